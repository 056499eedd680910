"""The main measure by category, and what came back for queries that have no answer."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from ...evaluation.measures.numbers import NONE, is_share, scale
from ...evaluation.record import Run
from ..document import Block, Paragraph, Row, Section, Strong, Table
from ..figures import categories as figure
from ..figures import ranked_main
from ..standing import Standing
from ..table import interval, name_of


def by_category(run: Run, standing: Standing) -> Section | None:
    """Return the table and figure by category; none of a data set with a single one."""
    blocks: list[Block] = []
    answered = [category for category, cells in _cells(run, standing).items() if cells[0]["n"]]
    if standing.n and len(answered) > 1:
        few = "Few queries a category give hints, not results: read the intervals."
        note = f"{name_of(standing.measure)}{f' {scale()}' if is_share(standing.measure) else ''}, the highest of a row in bold. {few}"
        blocks += [Table(list(_rows(run, standing)), (0,)), Paragraph(note), figure(run, standing)]
    if standing.n and run.summary["unanswerable"]:
        blocks.append(Paragraph(_silence(run, standing)))
    return Section("By category" if len(answered) > 1 else "Queries without an answer", blocks) if blocks else None


def _cells(run: Run, standing: Standing) -> dict[str, list[dict]]:
    systems = ranked_main(run, standing)
    return {
        category: [run.summary["systems"][name]["categories"][category][standing.measure] for name in systems]
        for category in run.summary["categories"]
    }


def _rows(run: Run, standing: Standing) -> Iterator[Row]:
    yield ["category", "n", *map(standing.label, ranked_main(run, standing))]
    for category, cells in _cells(run, standing).items():
        if not cells[0]["n"]:
            continue
        highest = max(cell["mean"] for cell in cells)
        leading = [isclose(cell["mean"], highest, abs_tol=1e-9) for cell in cells]
        some = not all(leading)
        written = (interval(cell, standing.measure) for cell in cells)
        row = [Strong(text) if some and first else text for text, first in zip(written, leading, strict=True)]
        yield [category or NONE, str(cells[0]["n"]), *row]


def _silence(run: Run, standing: Standing) -> str:
    counts = {name: run.summary["systems"][name]["unanswerable"] for name in ranked_main(run, standing)}
    n = run.summary["unanswerable"]
    queries = "the one query that has" if n == 1 else f"the {n} queries that have"
    if not any(count["silent"] for count in counts.values()):
        return f"No system stays silent: each returned something for {queries} no answer."
    parts = ", ".join(f"{standing.label(name)} on {count['silent']}" for name, count in counts.items())
    return f"Of {queries} no answer, nothing came back, as it should, from: {parts}."
