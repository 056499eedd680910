"""The short report of an experiment: a question, what was measured, and whether what is claimed holds here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..evaluation.inference.intervals import SHARES, mean_interval
from ..evaluation.judging.claims import ClaimVerdict, claims_of, judge, meaning, measured
from ..evaluation.measures.numbers import NONE, amount, probability
from ..evaluation.record import Run
from .table import markdown

_COUNTS = ("returned", "returned_of_many", "tokens")  # measures that are no shares
_WORDS = {"holds": "holds", "fails": "does not hold", "open": "stays open"}
_INTRODUCTION = """\
# What the mechanisms of an agent's memory are worth

Each mechanism is a part that YAML puts into a system, and each claim about one has an experiment preset that holds it against a data set.
A verdict is made for these queries, this embedding model and the settings named; `dataset=…` and `embedder=…` ask again elsewhere.
Each run's own report, `recallmeter report RUN`, adds the means of every system with their intervals."""
_LEGEND = (
    "Shares in per cent, Δ in percentage points or in units of the count, paired by query, with its 95 % interval. "
    "p: two-sided randomisation test, Holm-corrected over all claims. A direction holds at p < .05, and does not when the opposite is "
    "shown or nothing changed at all. A claim with a bound holds, or does not, by a one-sided t-test against that bound at .05 over "
    "the number of claims; for holding, as if 1.5 more queries had gone as badly as one can. Else a claim stays open."
)


def render(run: Run) -> str:
    """Return the report of a run whose configuration has a ``claim`` block, in Markdown."""
    block, decided = run.config["claim"], verdicts(run)
    named = {*block["measures"], *(verdict.claim.measure for verdict in decided)}
    meanings = [f"- `{measure}`: {meaning(measure)}" for measure in sorted(named)]
    parts = [f"# {block['question']}", summary(run, decided), "## Systems", markdown(_systems(run), left=(0, 1)), "\n".join(meanings)]
    if counts := _ingest(run):
        parts += ["## What ingest did", markdown(counts, left=(0, 1, 3))]
    parts += ["## Claims", markdown(_claims(decided), left=(0, 1, 2, 3)), _LEGEND]
    return "\n\n".join(part for part in parts if part) + "\n"


def overview(runs: Sequence[Run]) -> str:
    """Return the verdicts of several such runs in one document, in Markdown."""
    parts = [_INTRODUCTION]
    for run in runs:
        decided, data = verdicts(run), run.manifest["dataset"]
        head = ["claim", "measure", "before", "after", "Δ", "95 % interval", "p (Holm)", "verdict"]
        rows = [[row[column] for column in (0, 3, 5, 6, 7, 8, 9, 10)] for row in _claims(decided)[1:]]
        parts.append(f"## {run.config['claim']['question']}")
        parts.append(f"`recallmeter run experiment={run.manifest['name'].replace('-', '_')}`, {data['name']}: {_counted(run, decided)}.")
        parts.append(markdown([head, *rows], left=(0, 1)))
    return "\n\n".join((*parts, _LEGEND)) + "\n"


def verdicts(run: Run) -> list[ClaimVerdict]:
    """Decide the claims in a run's configuration."""
    return judge(run, claims_of(run))


def summary(run: Run, decided: Sequence[ClaimVerdict]) -> str:
    """Return how many claims hold, and a sentence for each."""
    data = run.manifest["dataset"]
    asked = f"{data['answerable']} answerable and {data['queries'] - data['answerable']} unanswerable queries"
    head = f"**{_counted(run, decided)}** on {data['name']} ({asked})."
    return "\n".join((head, "", *(f"- {sentence(verdict)}" for verdict in decided)))


def _counted(run: Run, decided: Sequence[ClaimVerdict]) -> str:
    outcomes, given = Counter(verdict.outcome for verdict in decided), len(run.config["claim"]["claims"])
    text = f"{outcomes['holds']} of {given} claims hold, {outcomes['fails']} do not, {outcomes['open']} stay open"
    return f"{text}, {given - len(decided)} can't be measured" if len(decided) < given else text


def sentence(verdict: ClaimVerdict) -> str:
    """Return one claim's verdict in words, with the numbers that decide it."""
    claim, row = verdict.claim, verdict.difference
    change = f"{_signed(claim.measure, row.mean)}{'' if claim.measure in _COUNTS else ' pp'}"
    if claim.by and row.before:
        change += f" or {100 * row.mean / row.before:+.0f} %"
    text = (
        f"“{claim.says}” **{_WORDS[verdict.outcome]}**: {claim.measure} {_written(claim.measure, row.before)} → "
        f"{_written(claim.measure, row.after)} ({change}, 95 % interval {_bounds(verdict)}; {claim.baseline} → {claim.system})"
    )
    if verdict.outcome == "open" and row.detectable is not None and not (claim.by or claim.margin):
        text += f"; {row.n} queries show a change of {_written(claim.measure, row.detectable)} or more"
    return text + "."


def _claims(decided: Sequence[ClaimVerdict]) -> list[list[str]]:
    table = [["claim", "system", "against", "measure", "n", "before", "after", "Δ", "95 % interval", "p (Holm)", "verdict"]]
    for verdict in decided:
        claim, row = verdict.claim, verdict.difference
        numbers = [
            _written(claim.measure, row.before),
            _written(claim.measure, row.after),
            _signed(claim.measure, row.mean),
            _bounds(verdict),
        ]
        words = [claim.says, claim.system, claim.baseline, claim.measure, str(row.n)]
        table.append([*words, *numbers, probability(row.adjusted), _WORDS[verdict.outcome]])
    return table


def _systems(run: Run) -> list[list[str]]:
    block = run.config["claim"]
    labels = block.get("labels", {})
    table = [["system", "", *block["measures"]]]
    for system in run.systems:
        cells = []
        for measure in block["measures"]:
            values = measured(run, system, measure)
            if len(values) == 0:
                cells.append(NONE)
                continue
            low, high, _ = mean_interval(values, None if measure in _COUNTS else SHARES, seed=run.manifest["seed"])
            ends = "" if low is None or high is None else f" [{_written(measure, low)}, {_written(measure, high)}]"
            cells.append(_written(measure, float(values.mean())) + ends)
        table.append([system, labels.get(system, ""), *cells])
    return table


def _ingest(run: Run) -> list[list[str]]:
    """Return what the steps of ingest removed and counted, a row a step; nothing when no system has any."""
    table = [["system", "step", "removed", "counted"]]
    for system in run.systems:
        steps = run.summary["systems"][system]["report"].get("ingest", {}).get("steps", {})
        for step, counts in steps.items():
            counted = ", ".join(f"{name} {n}" for name, n in counts.items() if name not in ("removed", "removed_ids") and n)
            table.append([system, step, str(counts["removed"]), counted])
    return table if len(table) > 1 else []


def _bounds(verdict: ClaimVerdict) -> str:
    low, high, _ = verdict.difference.interval
    if low is None or high is None:
        return NONE
    return f"[{_signed(verdict.claim.measure, low)}, {_signed(verdict.claim.measure, high)}]"


def _written(measure: str, value: float) -> str:
    return f"{value:,.1f}" if measure in _COUNTS else amount(value)


def _signed(measure: str, value: float) -> str:
    rounded = round(value if measure in _COUNTS else 100 * value, 1) + 0.0  # no -0.0
    return f"{rounded:+,.1f}"
