"""What explains the numbers: what each arm found, time, ties and disputed labels, and what was embedded."""

from __future__ import annotations

from typing import Any

from ...evaluation.measures.numbers import NONE, amount
from ...evaluation.record import Run
from ..document import Paragraph, Rich, Row, Section, Table
from ..figures import ranked_main
from ..standing import Standing
from ..table import interval, milliseconds, name_of


def arms(run: Run, standing: Standing) -> Section | None:
    """Return what each arm found, what only it found, and what fusion and stages lost."""
    head: list[Rich] = ["system", "arm", "answered", "candidates/query", "relevant in its first 10", "only it found", "lost on the way"]
    rows: list[Row] = [head]
    for name in ranked_main(run, standing):
        for arm, row in run.summary["systems"][name]["arms"].items():
            counts = [str(row[key]) for key in ("found", "only", "lost")]
            rows.append([standing.label(name), arm, f"{row['answered']} of {row['asked']}", f"{row['candidates']:.1f}", *counts])
    words = (
        "Relevant observations, summed over all queries. Only it found: in no other arm's first ten. Lost on the way: in the arm's first "
        "ten and not in the answer's, because fusion or a stage ranked other things higher."
    )
    return Section("What each arm contributed", [Table(rows, (0, 1)), Paragraph(words)], collapsed=True) if len(rows) > 1 else None


def readings(run: Run, standing: Standing) -> Section:
    """Return what time, the order of ties and disputed labels make of the numbers."""
    measure = standing.measure
    disputed = any(run.summary["systems"][name]["undisputed"] for name in run.systems)
    first = run.summary["systems"][run.systems[0]]["time"]
    stale, as_of = (next(name for name in first if name.startswith(kind)) for kind in ("stale@", "as_of_recall@"))
    head: list[Rich] = ["system", f"{stale} (n)", "from the future", as_of, f"{name_of(measure)}: worst–best order of ties"]
    rows: list[Row] = [[*head, f"{name_of(measure)} without disputed labels"] if disputed else head]
    for name in run.systems:
        system = run.summary["systems"][name]
        time, ties = system["time"], system["ties"].get(measure)
        cells = [
            f"{interval(time[stale])} ({time[stale]['n']})",
            str(time["future_leaks"]),
            amount(time[as_of]["mean"]),
            NONE if ties is None or ties["worst"] is None else f"{amount(ties['worst'], measure)}–{amount(ties['best'], measure)}",
        ]
        without: dict[str, Any] | None = system["undisputed"]
        rows.append([standing.label(name), *cells, *([amount(without[measure]["mean"], measure) if without else NONE] if disputed else [])])
    words = (
        "Stale: something superseded stands above its successor, of the queries whose answer superseded something. From the "
        "future: observations returned that are later than the question. As of: recall of what existed when it was asked."
    )
    return Section("Time, ties and disputed labels", [Table(rows), Paragraph(words)], collapsed=True)


def embedding(run: Run, standing: Standing) -> Section | None:
    """Return what was embedded, and how long that took."""
    rows: list[Row] = [["system", "model", "dimensions", "batch", "documents", "seconds", "ms/document"]]
    for name, found in run.manifest.get("embedding", {}).items():
        model, ms, n = str(found["model"]).partition("@")[0], found.get("document_ms"), found["documents"]
        cells = [str(found[key]) for key in ("dimensions", "batch_size", "documents")]
        took = [NONE, NONE] if ms is None else [f"{ms / 1e3:.2f}", milliseconds(ms / n) if n else NONE]
        rows.append([standing.label(name), model, *cells, *took])
    return Section("Embedding", [Table(rows, (0, 1))], collapsed=True) if len(rows) > 1 else None
