"""What the answers cost: tokens against reading everything, and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import mean
from typing import Any

from ...evaluation.measures.numbers import NONE, amount, percent_sign
from ...evaluation.record import Run
from ..document import Paragraph, Row, Section, Table
from ..figures import budget, ranked_main
from ..standing import Standing
from ..table import milliseconds, timing, under_load


def tokens(run: Run, standing: Standing) -> Section:
    """Return tokens and saving of each main system, beside reading the whole memory."""
    whole = run.summary["memory_tokens"]
    rows: list[Row] = [["system", "tokens/query", f"saved{percent_sign(before=', ')}"]]
    for name in ranked_main(run, standing):
        system = run.summary["systems"][name]
        read, answered = system["tokens"]["mean"], run.summary["queries"] > system["status"].get("failed", 0)
        rows.append([standing.label(name), f"{read:,.0f}", amount(1 - read / whole) if whole and answered else NONE])
    rows.append(["all that a query may search", f"{whole:,.0f}", amount(0.0)])
    searched = _searched(run)
    words = (
        f"Counted by {run.manifest['tokens_counter']}. The saving: {min(run.manifest['tokens_at'], round(searched))} returned of "
        f"{searched:,.0f} observations{' on average' if _scoped(run) else ''}, whichever system ranks them."
    )
    return Section("Tokens", [Table(rows), Paragraph(words), *([budget(run, standing)] if standing.n else [])])


def _searched(run: Run) -> float:
    """Return how many observations lie in the scope of a query, on average."""
    sizes = Counter(observation.scope for observation in run.observations.values())
    return mean(sizes[query.scope] for query in run.queries.values()) if run.queries else len(run.observations)


def _scoped(run: Run) -> bool:
    return len({observation.scope for observation in run.observations.values()}) > 1


def time(run: Run, standing: Standing) -> Section:
    """Return the latency of each main system, and what the machine was doing."""
    rows: list[Row] = [["system", "p50, ms", "p95, ms", "p99, ms", "first query, ms", "indexing, ms"]]
    for name in ranked_main(run, standing):
        times = run.summary["systems"][name]["latency"]
        total = times["spans"].get("total", {})
        cells = [*(total.get(p) for p in ("p50", "p95", "p99")), times.get("cold_ms"), times.get("index_ms")]
        rows.append([standing.label(name), *(NONE if value is None else milliseconds(value) for value in cells)])
    notes = [Paragraph(" ".join(_beside(run))), Paragraph(timing(run))]
    found = (run.summary["systems"][name]["latency"] for name in ranked_main(run, standing))
    if any(latency["index_ms"] is None and latency["timed"] for latency in found):
        notes.append(Paragraph(f"{NONE}: not measured in this run, since an earlier one had embedded it; fresh=true times everything."))
    return Section("Latency", [Table(rows), *notes])


def spans(run: Run, standing: Standing) -> Section | None:
    """Return the time of every arm and stage."""
    rows: list[Row] = [["system", "part", "p50, ms", "p95, ms", "p99, ms"]]
    for name in ranked_main(run, standing):
        parts: dict[str, Any] = run.summary["systems"][name]["latency"]["spans"]
        for span in sorted(parts, key=lambda span: (span != "total", span)):
            cells = [parts[span].get(p) for p in ("p50", "p95", "p99")]
            rows.append([standing.label(name), span.removeprefix("total."), *(NONE if c is None else milliseconds(c) for c in cells)])
    return (
        Section("Latency by arm and stage", [Table(rows, (0, 1)), Paragraph(f"Taken {under_load(run)}.")], collapsed=True)
        if len(rows) > 1
        else None
    )


def _beside(run: Run) -> Iterator[str]:
    manifest = run.manifest
    yield f"Measured on {manifest.get('cpu') or 'an unknown processor'}, {manifest.get('cores') or '?'} cores"
    yield "by one process after warm-up, the embedding of the query included."
    if calibration := manifest.get("calibration_ms"):
        yield f"A fixed piece of work took {milliseconds(calibration)} ms, which says how fast the machine was just then."
