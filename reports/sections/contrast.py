"""Where one system wins over another, query by query: by default the recommended one over the first that the report is about."""

from __future__ import annotations

from collections.abc import Sequence

from ...datasets.model import Query
from ...evaluation.measures.numbers import amount, pp, shift
from ...evaluation.record import Run
from ..document import Paragraph, Row, Section, Table
from ..figures import ranked_main
from ..standing import Standing
from ..table import name_of

LARGEST = 10
"""How many queries are shown in each direction."""


def wins(run: Run, standing: Standing) -> Section | None:
    """Return the largest differences in both directions, such as those that vectors make to BM25."""
    sides = _sides(run, standing)
    if not standing.n or sides is None:
        return None
    title, before, after = sides
    values = _values(run, standing)
    queries = [query for query in run.queries.values() if query.answerable]
    moved = [(values[after, query.id] - values[before, query.id], query) for query in queries]
    moved = sorted(((change, query) for change, query in moved if change), key=lambda one: (-one[0], one[1].id))
    gained, lost = ([one for one in moved if (one[0] > 0) is wanted] for wanted in (True, False))
    words = (
        f"{name_of(standing.measure)} of {standing.label(after)} against {standing.label(before)}: better on {len(gained)}, worse on "
        f"{len(lost)}, the same on {len(queries) - len(moved)} of {len(queries)} queries"
    )
    if not moved:
        return Section(title, [Paragraph(f"{words}.")])
    shown = [*gained[:LARGEST], *lost[::-1][:LARGEST][::-1]]
    every = "" if len(shown) == len(moved) else f"; the largest {LARGEST} each way"
    measure = standing.measure
    rows: list[Row] = [["query", "category", standing.label(before), standing.label(after), f"Δ{pp(measure)}"]]
    rows += [
        [query.text, query.category, *(amount(values[name, query.id], measure) for name in (before, after)), shift(change, measure)]
        for change, query in shown
    ]
    return Section(title, [Paragraph(f"{words}{every}."), Table(rows, (0, 1))])


def queries(run: Run, standing: Standing) -> Section | None:
    """Return every query that has an answer, with the main measure of each main system."""
    if not standing.n:
        return None
    values, systems = _values(run, standing), ranked_main(run, standing)
    asked: Sequence[Query] = [query for query in run.queries.values() if query.answerable]
    rows: list[Row] = [["query", "category", "relevant", *map(standing.label, systems)]]
    rows += [[q.text, q.category, str(len(q.relevant)), *(amount(values[name, q.id], standing.measure) for name in systems)] for q in asked]
    title = f"Query by query: {name_of(standing.measure)} of all {len(asked)} that have an answer"
    return Section(title, [Table(rows, (0, 1))], collapsed=True)


def _sides(run: Run, standing: Standing) -> tuple[str, str, str] | None:
    """Return title, before and after; what the configuration leaves open is the first main system and the recommended one."""
    wanted = (run.config.get("report") or {}).get("contrast") or {}
    before = wanted.get("from") or next((name for name in run.systems if name in standing.main), None)
    after = wanted.get("to") or standing.recommended or standing.best
    if before == after:
        after = next((name for name in standing.ranked if name != before), None)
    if before not in run.systems or after not in run.systems or before is None or after is None or before == after:
        return None
    return wanted.get("title") or f"Where {standing.label(after)} wins over {standing.label(before)}, and where it loses", before, after


def _values(run: Run, standing: Standing) -> dict[tuple[str, str], float]:
    return {(row["system"], row["query"]): row[standing.measure] for row in run.per_query if row["answerable"]}
