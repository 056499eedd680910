"""The waterfall of one query: what happened after what, and how long each part took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..evaluation.record import Run
from ..retrieval.telemetry import SLOW_MS, slow_part

_WIDTH = 48


def slowest_queries(run: Run) -> str:
    """Return the waterfall of each system's slowest query, with what its arms found and its stages dropped."""
    return "\n\n".join(
        waterfall(run, system, max(searches, key=lambda query: _total(searches[query]))) for system, searches in _spans(run).items()
    )


def waterfall(run: Run, system: str, query: str) -> str:
    """Draw one search of a run, a line a span; parts follow one another in the order in which they ended."""
    spans, trace = _spans(run)[system][query], run.traces(system)[query]
    scale = _WIDTH / (_total(spans) or 1.0)
    lines = [f"{system}: {run.queries[query].text!r} ({query})"]
    for name, begin, milliseconds in _laid_out(spans, "total", 0.0):
        depth = name.count(".")
        part = name.rpartition(".")[2]
        left, right = round(begin * scale), round((begin + milliseconds) * scale)
        bar = " " * min(left, _WIDTH - 1) + "█" * max(1, right - left) if milliseconds else ""
        row = f"{'  ' * depth + part:<24}{milliseconds:>10.3f} ms  {bar}"
        lines.append(f"{row:<{38 + _WIDTH}}  {_outcome(part, trace)}".rstrip())
    lines += [f"note: {note}" for note in trace["notes"]]
    if slow := slow_part(spans):
        lines.append(f"SLOW: over {SLOW_MS:g} ms, of which {slow.milliseconds:.0f} ms in {slow.name}")
    return "\n".join(lines)


def slow_searches(run: Run) -> list[str]:
    """Return one line for each system with searches over the limit: how many, the slowest, and the part to blame."""
    lines = []
    for system, searches in _spans(run).items():
        slow = {query: part for query, spans in searches.items() if (part := slow_part(spans))}
        if slow:
            worst = max(slow, key=lambda query: _total(searches[query]))
            part = slow[worst]
            lines.append(
                f"SLOW {system}: {len(slow)} of {len(searches)} queries over {SLOW_MS:g} ms, the slowest {worst}: "
                f"{_total(searches[worst]):.0f} ms, of which {part.milliseconds:.0f} ms in {part.name}"
            )
    return lines


def _spans(run: Run) -> dict[str, dict[str, dict[str, float]]]:
    """Return system → query → span → milliseconds."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for system, query, span, milliseconds in run.timings:
        if query:
            found.setdefault(system, {}).setdefault(query, {})[span] = milliseconds
    return found


def _total(spans: Mapping[str, float]) -> float:
    return spans.get("total", 0.0)


def _laid_out(spans: Mapping[str, float], name: str, begin: float) -> Iterator[tuple[str, float, float]]:
    """Yield span, begin and length, outer before inner; spans inside one follow one another from its begin."""
    yield name, begin, spans.get(name, 0.0)
    for inner, milliseconds in spans.items():
        if inner.rpartition(".")[0] == name:
            yield from _laid_out(spans, inner, begin)
            begin += milliseconds


def _outcome(part: str, trace: Mapping[str, Any]) -> str:
    if part in trace["arms"]:
        return f"{len(trace['arms'][part]['ids'])} found"
    if part in trace["dropped"]:
        return f"{len(trace['dropped'][part])} dropped"
    return ""
