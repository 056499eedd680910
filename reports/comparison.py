"""Comparisons for people: a table that a paper can print, and the queries behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..evaluation.judging.changes import Move, QueryChange
from ..evaluation.judging.compare import Comparison, Difference
from ..evaluation.measures.numbers import NONE, amount, common_unit, pp, probability, shift
from .table import aligned, bounds, markdown

TESTS = {
    "randomisation": "paired randomisation and, from 100 units on, the bootstrap of t, the larger of the two",
    "t": "Student's paired t",
    "wilcoxon": "Wilcoxon's signed ranks",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg"}


def legend(test: str, correction: str) -> str:
    """Say how the numbers of the tables came about."""
    return (
        f"{'Means in per cent; Δ in percentage points' if pp() else 'Δ'} with its 95 % interval. p: two-sided, {TESTS[test]}. "
        f"adjusted: {CORRECTIONS[correction]} over all rows of the table, those by category apart; * below .05, ** below .01; "
        "† exploratory: so few queries can't rule out that some like them change much the other way. W/T/L: queries won, tied, lost. "
        "MDE: the smallest true difference shown with probability .8 at the table's strictest level."
    )


def title(comparison: Comparison) -> str:
    """Name the two systems and the number of queries."""
    pairing = comparison.pairing
    left_out = f", {pairing.left_out} in only one of the two left out" if pairing.left_out else ""
    return f"{pairing.before.label} → {pairing.after.label} ({len(pairing.queries)} queries{left_out})"


def rows(differences: Sequence[Difference]) -> list[list[str]]:
    """Return the table of differences, its head first; categories have a column if there are any."""
    categories = any(row.category for row in differences)
    unit = common_unit(row.measure for row in differences)
    head = ["measure", "n", "before", "after", f"Δ{unit}", "95 % interval", "p", "adjusted", "W/T/L", f"MDE{unit}"]
    table = [["category", *head] if categories else head]
    for row in differences:
        cells = [
            row.measure,
            str(row.n),
            amount(row.before, row.measure),
            amount(row.after, row.measure),
            shift(row.mean, row.measure),
            bounds(row),
            probability(row.p),
            probability(row.adjusted) + marks(row),
            f"{row.wins}/{row.ties}/{row.losses}",
            amount(row.detectable, row.measure),
        ]
        table.append([row.category, *cells] if categories else cells)
    return table


def marks(row: Difference) -> str:
    """Return the stars of a corrected p, and a dagger where it is exploratory."""
    stars = "**" if row.adjusted < 0.01 else "*" if row.adjusted < 0.05 else ""
    return f"{stars}†" if stars and row.exploratory else stars


def text(comparison: Comparison, queries: Sequence[QueryChange], limit: int) -> str:
    """Write one comparison for a terminal; one line where nothing changed."""
    if unchanged(comparison, queries):
        return f"{title(comparison)}: nothing changed in {_measures(comparison)}"
    parts = [title(comparison), aligned(rows(comparison.overall))]
    if comparison.by_category:
        parts.append(aligned(rows(comparison.by_category)))
    parts += [_on_intervals(comparison), "\n".join(listed(queries, limit))]
    return "\n\n".join(filter(None, parts))


def document(comparison: Comparison, queries: Sequence[QueryChange], limit: int) -> str:
    """Write one comparison in Markdown; one line where nothing changed."""
    if unchanged(comparison, queries):
        return f"**{title(comparison)}**: nothing changed in {_measures(comparison)}.\n"
    parts = [f"## {title(comparison)}", markdown(rows(comparison.overall))]
    if comparison.by_category:
        parts += ["### By category", markdown(rows(comparison.by_category), left=(0, 1))]
    parts.append(_on_intervals(comparison))
    if queries:
        parts += [f"### Queries that changed ({len(queries)})", "```text\n" + "\n".join(listed(queries, limit)) + "\n```"]
    return "\n\n".join(filter(None, parts)) + "\n"


def unchanged(comparison: Comparison, queries: Sequence[QueryChange]) -> bool:
    """Return whether no query changed in any measure of the table."""
    return not queries and all(row.ties == row.n for row in comparison.overall)


def _measures(comparison: Comparison) -> str:
    return ", ".join(row.measure for row in comparison.overall)


def _on_intervals(comparison: Comparison) -> str:
    """Say why some rows have no interval, and by how many groups the queries hang together, if any do."""
    table = (*comparison.overall, *comparison.by_category)
    reasons = dict.fromkeys(row.interval.why for row in table if row.interval.why)
    told = [f"No interval where {'; '.join(reasons)}."] if reasons else []
    if grouped := [row for row in comparison.overall if row.groups < row.n]:
        effects = ", ".join(f"{row.measure} {row.design_effect:.1f}" for row in grouped)
        told.append(f"Queries hang together in {grouped[0].groups} groups, which are the units of chance; design effect: {effects}.")
    return " ".join(told)


def listed(queries: Sequence[QueryChange], limit: int) -> Iterator[str]:
    """Yield the lines of at most `limit` changed queries, and how many more there are."""
    for change in queries[:limit]:
        yield from lines(change)
    if len(queries) > limit:
        yield f"… and {len(queries) - limit} more queries"


def lines(change: QueryChange) -> Iterator[str]:
    """Yield what happened to one query: its values, the ranks of what answers it, and what took their place."""
    values = ", ".join(
        f"{measure} {amount(before, measure)} → {amount(after, measure)}" for measure, (before, after) in change.values.items()
    )
    category = f" [{change.query.category}]" if change.query.category else ""
    question = "".join(c if c.isprintable() else " " for c in change.query.text)
    quoted = f" “{' '.join(question.split())}”" if question.strip() else ""
    yield f"{change.query.id}{category}{quoted}: {values}"
    moved = [move for move in change.relevant if move.before != move.after]
    if moved:
        yield "    relevant: " + ", ".join(_rank(move, change.depth) for move in moved)
    if change.intruders:
        yield "    instead:  " + ", ".join(f"{move.id} at {move.after}" for move in change.intruders)


def record(comparison: Comparison, queries: Sequence[QueryChange]) -> dict[str, Any]:
    """Return one comparison JSON-ready; values are shares, not per cent."""
    pairing = comparison.pairing
    return {
        "before": pairing.before.label,
        "after": pairing.after.label,
        "queries": len(pairing.queries),
        "left_out": pairing.left_out,
        "overall": [_difference(row) for row in comparison.overall],
        "by_category": [_difference(row) for row in comparison.by_category],
        "changed": [change_record(change) for change in queries],
    }


def change_record(change: QueryChange) -> dict[str, Any]:
    """Return one changed query JSON-ready."""
    return {
        "query": change.query.id,
        "text": change.query.text,
        "category": change.query.category,
        "values": {measure: {"before": before, "after": after} for measure, (before, after) in change.values.items()},
        "relevant": [move._asdict() for move in change.relevant],
        "instead": [{"id": move.id, "rank": move.after} for move in change.intruders],
    }


def _difference(row: Difference) -> dict[str, Any]:
    return {**vars(row), "interval": row.interval._asdict()}


def _rank(move: Move, depth: int | None) -> str:
    none = NONE if depth is None else f"below {depth}"
    before, after = (none if rank is None else str(rank) for rank in (move.before, move.after))
    return f"{move.id} {before} → {after}"
