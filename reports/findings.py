"""What a run's numbers say, in sentences that are computed from them and follow whatever they turn out to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..datasets.errors import InputError
from ..evaluation.judging.compare import Difference, check_answerable, compare, pair, results_of
from ..evaluation.record import Run
from .table import HEADLINE, bounds, latency, percent, sign

MEASURES = ("recall@5", "recall@10", "ndcg@10", "mrr")
"""What the steps between systems are tested on."""

MAIN = "recall@10"
ALPHA = 0.05
"""The level of every table of tests."""

SATURATED = 0.97
"""From this share of the attainable on, a measure says little about what is better."""


@dataclass(frozen=True)
class Step:
    """One system against another: what changed between them is what is measured."""

    title: str
    before: str
    after: str
    differences: Mapping[str, Difference]


@dataclass(frozen=True)
class Steps:
    """The systems that a report is about, the steps between them, and the lead of the best over all others.

    The tests on R@10, of steps and leads together, are one table that is corrected as a whole; those on the other measures are
    another. `rivals` are all that could be recommended, which controls cannot, the highest R@10 first.
    """

    main: tuple[str, ...]
    rivals: tuple[str, ...]
    labels: Mapping[str, str]
    steps: tuple[Step, ...]
    leads: Mapping[str, Difference]

    @classmethod
    def of(cls, run: Run) -> Steps:
        """Read the report's part of the run's configuration; without steps there, every system is held against the first.

        Raises:
            InputError: no query has an answer, or the run lacks the main measure.
        """
        check_answerable(run)
        if MAIN not in run.measures:
            raise InputError(f"there is no {MAIN} in the run", where=str(run.path), remedy=f"run it with {MAIN} among the measures")
        wanted = run.config["report"]
        main = tuple(name for name in (wanted["main"] or run.systems) if name in run.systems)
        pairs = [(step["title"], step["from"], step["to"]) for step in (wanted["steps"] or ())]
        pairs = pairs or [(f"{main[0]} → {name}", main[0], name) for name in main[1:]]
        pairs = [pair for pair in pairs if pair[1] in run.systems and pair[2] in run.systems]
        rivals = [name for name in run.systems if name not in wanted["controls"]] or list(run.systems)
        rivals.sort(key=lambda name: (-(run.summary["systems"][name]["measures"][MAIN]["mean"] or 0.0), name))
        leads = [(name, rivals[0]) for name in rivals[1:]]
        transitions = [(before, after) for _, before, after in pairs]
        others = [measure for measure in MEASURES if measure in run.measures and measure != MAIN]
        first, second = _differences(run, [*transitions, *leads], [MAIN]), _differences(run, transitions, others)
        steps = [Step(*pair, {**first[i], **second[i]}) for i, pair in enumerate(pairs)]
        won = {name: rows[MAIN] for (name, _), rows in zip(leads, first[len(steps) :], strict=True)}
        return cls(main, tuple(rivals), wanted["labels"] or {}, tuple(steps), won)

    def label(self, system: str) -> str:
        """Return what the report calls a system."""
        return self.labels.get(system, system)


def _differences(run: Run, pairs: Sequence[tuple[str, str]], measures: Sequence[str]) -> list[dict[str, Difference]]:
    """Compare each (before, after) on each measure; all of them are corrected as one table."""
    if not pairs or not measures:
        return [{} for _ in pairs]
    pairings = [pair(results_of(run, before), results_of(run, after)) for before, after in pairs]
    return [{row.measure: row for row in comparison.overall} for comparison in compare(pairings, measures, alpha=ALPHA)]


def shown(difference: Difference) -> bool:
    """Return whether a difference stands after correction."""
    return difference.adjusted < ALPHA


def findings(run: Run, steps: Steps) -> Iterator[str]:
    """Yield the findings, the most important first."""
    yield _best(run, steps)
    for step in steps.steps:
        yield _step(step)
    yield from _categories(run, steps)
    yield _room(run, steps)
    yield _cost(run, steps)
    yield from _arms(run, steps)
    yield from _silence(run, steps)
    yield from _stale(run, steps)


def recommendation(run: Run, steps: Steps) -> str:
    """Name the simplest of the systems that the best one is not shown to beat: the fewest arms, then the higher mean."""
    best, *others = steps.rivals
    leads = steps.leads
    equals = [name for name in (best, *others) if name == best or not shown(leads[name])]
    choice = min(equals, key=lambda name: len(run.summary["systems"][name]["arms"]))
    text = f"Use **{steps.label(choice)}**. "
    if choice == best:
        beaten = [steps.label(name) for name in others if name not in equals]
        text += f"It has the highest R@10 ({_mean(run, best)} %)"
        text += f", with a lead that is shown over {listed(beaten)}." if beaten else ", although no other system is shown to be worse."
    else:
        text += (
            f"{steps.label(best)} has the highest R@10 ({_mean(run, best)} % against {_mean(run, choice)} %), but that lead of "
            f"{sign(leads[choice].mean)} pp is within what chance gives here (p = {leads[choice].adjusted:.2f}), and it costs "
            f"{latency(run.summary['systems'][best])} ms a query instead of {latency(run.summary['systems'][choice])} ms."
        )
    near = [steps.label(name) for name in equals if name not in (choice, best)]
    if near:
        text += f" Not shown to be worse either: {listed(near)}."
    return text + " This holds for this data set; `recallmeter run dataset=…` says what holds for another."


def _mean(run: Run, system: str, measure: str = MAIN) -> str:
    return percent(run.summary["systems"][system]["measures"][measure]["mean"])


def _best(run: Run, steps: Steps) -> str:
    best, *rest = steps.rivals
    text = f"**{steps.label(best)} finds the most**: R@10 {_mean(run, best)} %"
    if not rest:
        return text + "."
    even = [steps.label(name) for name in rest if not shown(steps.leads[name])]
    if not even:
        return text + ", and the lead over every other system is shown (corrected p < .05)."
    return text + f". Its lead over {listed(even)} is inside the noise of {run.summary['answerable']} queries."


def _step(step: Step) -> str:
    main = step.differences[MAIN]
    spread = "" if main.interval.low is None else f" {bounds(main)}"
    if not main.wins + main.losses:
        return f"**{step.title}: no change.** Not one query's R@10 differs."
    others = [f"{HEADLINE[m]} {sign(d.mean)}" for m, d in step.differences.items() if shown(d) and m != MAIN]
    also = f" Shown as well: {listed(others)} pp." if others else ""
    p = f"p = {main.adjusted:.3f} after correction"
    moved = f"R@10 {sign(main.mean)} pp{spread}, better on {main.wins} queries, worse on {main.losses} ({p})."
    if shown(main):
        return f"**{step.title}: {'helps' if main.mean > 0 else 'hurts'}.** {moved}{also}"
    detectable = "" if main.detectable is None else f" This many queries would show {percent(main.detectable)} pp."
    return f"**{step.title}: not shown to change R@10.** {moved}{detectable}{also}"


def _categories(run: Run, steps: Steps) -> Iterator[str]:
    for step in steps.steps:
        changes = []
        for category in run.summary["categories"]:
            before, after = (run.summary["systems"][name]["categories"][category][MAIN] for name in (step.before, step.after))
            if before["n"]:
                changes.append((after["mean"] - before["mean"], category, before["n"]))
        changes.sort()
        if len(changes) < 2 or changes[0][0] == changes[-1][0]:
            continue
        (low, worst, n_worst), (high, best, n_best) = changes[0], changes[-1]
        yield (
            f"By category, *{step.title}* is worth from {sign(low)} pp of R@10 in {worst} (n = {n_worst}) "
            f"to {sign(high)} pp in {best} (n = {n_best}); with so few queries each these are hints, not results."
        )


def _room(run: Run, steps: Steps) -> str:
    best = steps.rivals[0]
    reached = {m: run.summary["systems"][best]["measures"][m]["mean"] for m in ("recall@5", "recall@10") if m in run.measures}
    ceilings = run.summary["ceilings"]
    parts = [f"{HEADLINE[m]} {percent(mean)} of {percent(ceilings[m])} attainable" for m, mean in reached.items()]
    saturated = [HEADLINE[m] for m, mean in reached.items() if mean > SATURATED * ceilings[m]]
    if saturated:
        return f"**{listed(saturated)} cannot tell the best systems apart**: the best reaches {listed(parts)}."
    return f"**There is room to tell systems apart**: the best reaches {listed(parts)}."


def _cost(run: Run, steps: Steps) -> str:
    whole = run.summary["memory_tokens"]
    tokens = {name: run.summary["systems"][name]["tokens"]["mean"] for name in steps.main}
    low, high = min(tokens.values()), max(tokens.values())
    return (
        f"**Reading the first {run.manifest['tokens_at']} instead of everything saves "
        f"{percent(1 - high / whole)}–{percent(1 - low / whole)} % of the tokens** "
        f"({low:,.0f}–{high:,.0f} against {whole:,} a query); that comes from returning ten, whichever system ranks them."
    )


def _arms(run: Run, steps: Steps) -> Iterator[str]:
    for name in steps.main:
        arms = run.summary["systems"][name]["arms"]
        if len(arms) < 2:
            continue
        parts = [f"{arm} alone found {row['only']} and lost {row['lost']} of its {row['found']}" for arm, row in arms.items()]
        yield f"In {steps.label(name)}, of the relevant observations among each arm's first ten, {listed(parts)}."


def _silence(run: Run, steps: Steps) -> Iterator[str]:
    if not run.summary["unanswerable"]:
        return
    counts = {name: run.summary["systems"][name]["unanswerable"] for name in steps.main}
    if not any(count["silent"] for count in counts.values()):
        without = run.summary["unanswerable"]
        yield f"**No system stays silent**: each returned something for every one of the {without} queries that have no answer."
    else:
        parts = [f"{steps.label(name)} {count['silent']} of {count['n']}" for name, count in counts.items()]
        yield f"Queries that have no answer came back empty from {listed(parts)}."


def _stale(run: Run, steps: Steps) -> Iterator[str]:
    stale = {name: run.summary["systems"][name]["time"]["stale@10"] for name in steps.main}
    n = stale[steps.main[0]]["n"]
    if n:
        parts = [f"{percent(cell['mean'])} % in {steps.label(name)}" for name, cell in stale.items()]
        yield f"**Stale memories come first** for a share of the {n} queries whose answer superseded something: {listed(parts)}."


def listed(parts: Sequence[str]) -> str:
    """Write parts as a sentence does: ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "none"
