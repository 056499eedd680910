"""The short report of an experiment: a question, what was measured, and whether what is claimed holds here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..evaluation.claims import SET_MEASURES, Verdict, claims_of, judge, measured
from ..evaluation.record import Run
from ..evaluation.statistics import bootstrap_interval
from .comparison import probability
from .table import NONE, markdown, percent

_COUNTS = ("returned", "tokens")  # measures that are no shares
_WORDS = {"holds": "holds", "fails": "does not hold", "open": "stays open"}
_LEGEND = (
    "Shares in per cent, Δ in percentage points or in units of the count, paired by query, with its 95 % BCa bootstrap interval. "
    "p: two-sided randomisation test, Holm-corrected over all claims. A direction holds at p < .05; a claim with a bound by a cautious "
    "one-sided t-test against the bound at .05 over the number of claims; it does not hold when the opposite is shown so, or nothing "
    "changed at all; else it stays open."
)


def render(run: Run) -> str:
    """Return the report of a run whose configuration has a ``claim`` block, in Markdown."""
    block, verdicts = run.config["claim"], judge(run, claims_of(run))
    named = {*block["measures"], *(verdict.claim.measure for verdict in verdicts)}
    parts = [f"# {block['question']}", summary(run, verdicts), "## Systems", markdown(_systems(run), left=(0, 1))]
    parts += [f"- `{measure}`: {meaning}" for measure, meaning in SET_MEASURES.items() if measure in named]
    parts += ["## Claims", markdown(_claims(verdicts), left=(0, 1, 2, 3)), _LEGEND]
    return "\n\n".join(parts) + "\n"


def summary(run: Run, verdicts: Sequence[Verdict]) -> str:
    """Return how many claims hold, and a sentence for each."""
    outcomes, data = Counter(verdict.outcome for verdict in verdicts), run.manifest["dataset"]
    counted = f"{outcomes['holds']} of {len(verdicts)} claims hold, {outcomes['fails']} do not, {outcomes['open']} stay open"
    asked = f"{data['answerable']} answerable and {data['queries'] - data['answerable']} unanswerable queries"
    return "\n".join((f"**{counted}** on {data['name']} ({asked}).", "", *(f"- {sentence(verdict)}" for verdict in verdicts)))


def sentence(verdict: Verdict) -> str:
    """Return one claim's verdict in words, with the numbers that decide it."""
    claim, row = verdict.claim, verdict.difference
    change = f"{_signed(claim.measure, row.mean)}{'' if claim.measure in _COUNTS else ' pp'}"
    if claim.by and row.before:
        change += f" or {100 * row.mean / row.before:+.0f} %"
    text = (
        f"“{claim.says}” **{_WORDS[verdict.outcome]}**: {claim.measure} {_written(claim.measure, row.before)} → "
        f"{_written(claim.measure, row.after)} ({change}, 95 % interval {_bounds(verdict)}; {claim.baseline} → {claim.system})"
    )
    if verdict.outcome == "open" and row.detectable is not None:
        text += f"; {row.n} queries show a change of {_written(claim.measure, row.detectable)} or more"
    return text + "."


def _claims(verdicts: Sequence[Verdict]) -> list[list[str]]:
    table = [["claim", "system", "against", "measure", "n", "before", "after", "Δ", "95 % interval", "p (Holm)", "verdict"]]
    for verdict in verdicts:
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
            low, high, _ = bootstrap_interval(values, seed=run.manifest["seed"])
            ends = "" if low is None or high is None else f" [{_written(measure, low)}, {_written(measure, high)}]"
            cells.append(_written(measure, float(values.mean())) + ends)
        table.append([system, labels.get(system, ""), *cells])
    return table


def _bounds(verdict: Verdict) -> str:
    low, high, _ = verdict.difference.interval
    if low is None or high is None:
        return NONE
    return f"[{_signed(verdict.claim.measure, low)}, {_signed(verdict.claim.measure, high)}]"


def _written(measure: str, value: float) -> str:
    return f"{value:,.1f}" if measure in _COUNTS else percent(value)


def _signed(measure: str, value: float) -> str:
    return f"{value:+,.1f}" if measure in _COUNTS else f"{100 * value:+.1f}"
