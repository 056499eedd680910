"""Who leads a run, by how much, and how sure that is: what verdict card, tables, figures and explorer all say alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose

from ..evaluation.judging.compare import Difference, compare, pair, results_of
from ..evaluation.measures.numbers import NONE, amount, percent_sign, pp, probability, shift, shifted
from ..evaluation.record import Run
from .document import Rich, Strong, listed
from .table import HEADLINE, bounds, interval, name_of

ALPHA = 0.05
"""The level of every table of tests."""

FEWEST_TO_RECOMMEND = 20
"""Of fewer answerable queries no system is recommended: hardly any difference could be shown, and the highest mean is often luck."""

FEWEST_GROUPS = 6
"""Of fewer groups that stand or fall together none is either: exchanging them two-sided, p is never below 2 · 2^-5 > .05."""

NAMED = 4
"""How many systems a sentence names before it counts the rest."""


@dataclass(frozen=True)
class Step:
    """One system against another: what changed between them is what is measured."""

    title: str
    before: str
    after: str
    differences: Mapping[str, Difference]


@dataclass(frozen=True)
class Standing:
    """The systems of a run in the order of its main measure, the lead of the first over each other one, and the steps between them.

    The tests on the main measure, of leads and steps together, are one table that is corrected as a whole; those of the steps on the
    other headline measures are another.

    Attributes:
        measure: the main measure.
        n: how many queries have an answer; of none there is no order, no lead and no step.
        groups: how many groups these queries make up, which stand or fall together; 0 where each stands by itself.
        ranked: all that could be recommended, which controls cannot, the highest mean first.
        main: the systems that the report is about, with the best and the recommended one.
        leads: system → the best one minus it.
        recommended: the simplest of those that the best is not shown to beat; None where too few queries have an answer.
    """

    measure: str
    n: int
    groups: int
    ranked: tuple[str, ...]
    main: tuple[str, ...]
    labels: Mapping[str, str]
    leads: Mapping[str, Difference]
    steps: tuple[Step, ...]
    recommended: str | None

    @classmethod
    def of(cls, run: Run) -> Standing:
        """Read the report's part of the run's configuration; without steps there, every main system is held against the first."""
        wanted, measure, n = run.config.get("report") or {}, main_measure(run), run.summary["answerable"]
        main = [name for name in (wanted.get("main") or run.systems) if name in run.systems]
        ranked = [name for name in run.systems if name not in (wanted.get("controls") or ())] or list(run.systems)
        labels = wanted.get("labels") or {}
        grouped = {query.group for query in run.queries.values() if query.answerable and query.group}
        groups = len(grouped) + sum(query.answerable and not query.group for query in run.queries.values()) if grouped else 0
        if not n:
            return cls(measure, 0, 0, tuple(ranked), tuple(main), labels, {}, (), None)
        ranked.sort(key=lambda name: (-mean_of(run, name, measure), name))
        pairs = [(step["title"], step["from"], step["to"]) for step in (wanted.get("steps") or ())]
        pairs = pairs or [(f"{labels.get(name, name)} instead of {labels.get(main[0], main[0])}", main[0], name) for name in main[1:]]
        pairs = [pair for pair in pairs if pair[1] in run.systems and pair[2] in run.systems]
        moves = [(before, after) for _, before, after in pairs]
        others = [other for other in HEADLINE if other in run.measures and other != measure]
        first = _differences(run, [*moves, *((name, ranked[0]) for name in ranked[1:])], [measure])
        second = _differences(run, moves, others)
        steps = [Step(*pair, {**first[i], **second[i]}) for i, pair in enumerate(pairs)]
        leads = {name: rows[measure] for name, rows in zip(ranked[1:], first[len(steps) :], strict=True)}
        recommended = _simplest(run, ranked, leads) if n >= FEWEST_TO_RECOMMEND and not 0 < groups < FEWEST_GROUPS else None
        main += [name for name in dict.fromkeys((ranked[0], recommended)) if name and name not in main]
        return cls(measure, n, groups, tuple(ranked), tuple(main), labels, leads, tuple(steps), recommended)

    @property
    def best(self) -> str:
        """The system with the highest mean; of several the first by name."""
        return self.ranked[0]

    @property
    def tied(self) -> tuple[str, ...]:
        """Every system whose mean is the highest, the best itself first."""
        return (self.best, *(name for name, lead in self.leads.items() if isclose(lead.mean, 0.0, abs_tol=1e-9)))

    @property
    def even(self) -> tuple[str, ...]:
        """The systems with a lower mean that the best is not shown to beat, the nearest first."""
        return tuple(name for name, lead in self.leads.items() if name not in self.tied and not shown(lead))

    @property
    def beaten(self) -> tuple[str, ...]:
        """The systems that the best is shown to beat, the nearest first."""
        return tuple(name for name, lead in self.leads.items() if shown(lead))

    def label(self, system: str) -> str:
        """Return what the report calls a system."""
        return self.labels.get(system, system)

    def named(self, systems: Sequence[str]) -> str:
        """Name some systems in a sentence, and count those that are too many to name."""
        labels = [self.label(system) for system in systems]
        return listed(labels if len(labels) <= NAMED + 1 else [*labels[:NAMED], f"{len(labels) - NAMED} others"])


def main_measure(run: Run) -> str:
    """Return what the systems of a run are ranked by: ``report.measure``, else recall@10, else the first measure."""
    wanted = (run.config.get("report") or {}).get("measure")
    return next(measure for measure in (wanted, "recall@10", *run.measures) if measure in run.measures)


def mean_of(run: Run, system: str, measure: str) -> float:
    """Return the mean of a system, 0 where there is none."""
    return run.summary["systems"][system]["measures"][measure]["mean"] or 0.0


def shown(difference: Difference) -> bool:
    """Return whether a difference stands after correction."""
    return difference.adjusted < ALPHA


def _differences(run: Run, pairs: Sequence[tuple[str, str]], measures: Sequence[str]) -> list[dict[str, Difference]]:
    """Compare each (before, after) on each measure; all of them are corrected as one table."""
    if not pairs or not measures:
        return [{} for _ in pairs]
    results = {name: results_of(run, name) for name in dict.fromkeys(name for both in pairs for name in both)}
    pairings = [pair(results[before], results[after]) for before, after in pairs]
    return [{row.measure: row for row in comparison.overall} for comparison in compare(pairings, measures, alpha=ALPHA)]


def _simplest(run: Run, ranked: Sequence[str], leads: Mapping[str, Difference]) -> str:
    """Return, of the systems that the first is not shown to beat, that of the fewest arms, then of the highest mean."""
    equals = [name for name in ranked if name == ranked[0] or not shown(leads[name])]
    return min(equals, key=lambda name: len(run.summary["systems"][name]["arms"]))


# ------------------------------------------------------------------------------------------------------------- the verdict


def verdict(run: Run, standing: Standing) -> list[Rich]:
    """Return the verdict in three lines: which system, by how much and how sure, on what."""
    if not standing.n:
        return [
            [Strong("There is nothing to rank."), f" None of the {run.summary['queries']} queries has an answer in this data set."],
            "A system is judged here by silence alone: whether nothing comes back.",
            _on_what(run, standing),
        ]
    return [_which(run, standing), _how_sure(standing), _on_what(run, standing)]


def _which(run: Run, standing: Standing) -> Rich:
    best, measure = standing.best, name_of(standing.measure)
    unit = percent_sign(standing.measure)
    value = interval(run.summary["systems"][best]["measures"][standing.measure], standing.measure) + unit
    use, chosen = standing.recommended, standing.tied
    if len(standing.ranked) == 1:
        return [Strong(standing.label(best)), f" reaches {value} {measure}; there is nothing to hold it against."]
    if use is None:
        few = f"{_units(standing)} {'settles' if standing.n == 1 else 'settle'} nothing"
        needed = f"{FEWEST_TO_RECOMMEND}" if standing.n < FEWEST_TO_RECOMMEND else f"{FEWEST_GROUPS} groups"
        who = f"{standing.named(chosen)} tie at" if len(chosen) > 1 else f"{standing.label(best)} is highest with"
        return [Strong("No recommendation"), f": {few} (at least {needed} are needed). {who} {value} {measure}."]
    if use == best and len(chosen) == 1:
        return [Strong(f"Use {standing.label(best)}"), f": best with {value} {measure}."]
    if use in chosen:
        tie = f": {standing.named(chosen)} tie at {value} {measure}, and it has the fewest parts."
        return [Strong(f"Use {standing.label(use)}"), tie]
    return [
        Strong(f"Use {standing.label(use)}"),
        f": {amount(mean_of(run, use, standing.measure), standing.measure)}{unit} {measure} with the fewest parts; "
        f"the best, {standing.label(best)} with {value}, is not shown to beat it.",
    ]


def _how_sure(standing: Standing) -> Rich:
    if not standing.leads:
        return f"n = {standing.n}."
    parts, measure = [], standing.measure
    best = standing.label(standing.best)
    if standing.even:
        nearest = standing.leads[standing.even[0]]
        rest = f", nor from {standing.named(standing.even[1:])}" if standing.even[1:] else ""
        parts.append(
            f"{best} is not separable from {standing.label(standing.even[0])} ({shifted(nearest.mean, measure)} {bounds(nearest)}, "
            f"p {probability(nearest.adjusted)}){rest}"
        )
    if standing.beaten:
        nearest = standing.leads[standing.beaten[0]]
        by = f"{shifted(nearest.mean, measure)} {bounds(nearest)}, p {probability(nearest.adjusted)}"
        parts.append(f"{best} is shown to be better than {standing.named(standing.beaten)}, the nearest by {by}")
    if not parts:
        parts.append("Nothing separates them")
    detectable = [lead.detectable for lead in standing.leads.values() if lead.detectable is not None]
    ends = "–".join(dict.fromkeys(amount(end(detectable), measure) for end in (min, max))) if detectable else ""
    smallest = f" So many queries show a difference of {ends}{pp(measure)}." if ends else ""
    return f"{'; '.join(parts)}.{smallest}"


def _units(standing: Standing) -> str:
    return f"{standing.n} {'query' if standing.n == 1 else 'queries'}{_grouped(standing)}"


def _grouped(standing: Standing) -> str:
    return f" in {standing.groups} {'group' if standing.groups == 1 else 'groups'}" if standing.groups else ""


def _on_what(run: Run, standing: Standing) -> Rich:
    data, summary = run.manifest["dataset"], run.summary
    unanswerable = f" and {summary['unanswerable']} without an answer" if summary["unanswerable"] else ""
    together = f"{grouped}, the units of chance," if (grouped := _grouped(standing)) else ""
    models = listed(list(run.manifest["models"])) if run.manifest["models"] else "no model"
    return (
        f"On {data['name']}: {summary['answerable']} queries with an answer (n){together}{unanswerable}, "
        f"{data['observations']:,} observations, {models}, the first {run.manifest['k']} hits of each query."
    )


# ------------------------------------------------------------------------------------------------------------- the findings


def step_words(step: Step, measure: str) -> Rich:
    """Say what a step changed."""
    main = step.differences[measure]
    name = name_of(measure)
    if not main.wins + main.losses:
        return [Strong(f"{step.title}: no change."), f" Not one query's {name} differs."]
    others = _shown_elsewhere(step, measure)
    also = f" Shown as well: {others}." if others else ""
    spread = "" if main.interval.low is None else f" {bounds(main)}"
    moved = f" {name} {shifted(main.mean, measure)}{spread}, better on {main.wins} queries, worse on {main.losses}.{also}"
    if shown(main):
        return [Strong(f"{step.title} {'helps' if main.mean > 0 else 'hurts'}."), moved]
    return [Strong(f"{step.title}: not shown to change {name}."), moved]


def more_words(step: Step, measure: str) -> str:
    """Say what a step is shown to change of other measures than the main one; "" of nothing."""
    others = _shown_elsewhere(step, measure)
    return f"{step.title}: {others}." if others else ""


def _shown_elsewhere(step: Step, measure: str) -> str:
    others = [f"{name_of(m)} {shifted(d.mean, m)}" for m, d in step.differences.items() if shown(d) and m != measure]
    return listed(others) if others else ""


def outcome(found: Difference) -> str:
    """Say in a word or two what a difference amounts to."""
    return "no change" if not found.wins + found.losses else "not shown" if not shown(found) else "gain" if found.mean > 0 else "loss"


def lead_words(standing: Standing, system: str) -> str:
    """Say how far a system is behind the best, such as ``−6.0 (p .087)``; a dash for what is not held against it."""
    if system == standing.best:
        return "best" if len(standing.tied) == 1 else "tied"
    lead = standing.leads.get(system)
    if lead is None:
        return NONE
    if system in standing.tied:
        return "tied"
    return f"{shift(-lead.mean, standing.measure)}, p {probability(lead.adjusted)}{'' if shown(lead) else ': not separable'}"
