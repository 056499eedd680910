"""Tables for people: the head-to-head table, and how a number, an interval and a table are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ..evaluation.judging.compare import Difference
from ..evaluation.measures.numbers import NONE, amount, shift
from ..evaluation.record import Run
from ..retrieval.arms.fallback import NOTE as FELL_BACK
from .document import Code, Inline, Link, Rich, Strong, pieces
from .inert import in_markdown, visible

HEADLINE = {"recall@5": "R@5", "recall@10": "R@10", "precision@5": "P@5", "ndcg@10": "NDCG@10", "mrr": "MRR"}
"""The measures of the head-to-head table, with their column heads."""


def name_of(measure: str) -> str:
    """Return what tables and sentences call a measure."""
    return HEADLINE.get(measure, measure)


def interval(cell: Mapping[str, Any], measure: str = "") -> str:
    """Write a mean with its interval, such as ``43.8 [40.1, 47.2]``; without an interval the mean alone."""
    if cell["low"] is None:
        return amount(cell["mean"], measure)
    return f"{amount(cell['mean'], measure)} [{amount(cell['low'], measure)}, {amount(cell['high'], measure)}]"


def bounds(difference: Difference) -> str:
    """Write the interval of a difference in percentage points, such as ``[+2.5, +15.2]``; a dash where there is none."""
    low, high, _ = difference.interval
    return NONE if low is None or high is None else f"[{shift(low, difference.measure)}, {shift(high, difference.measure)}]"


def milliseconds(value: float | None) -> str:
    """Write a time to three significant digits; a dash where it was not measured."""
    if value is None:
        return NONE
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def latency(system: Mapping[str, Any], statistic: str = "p50") -> str:
    """Write a statistic of a system's time per query; a system that never answered, or was not timed, has none."""
    total = system["latency"]["spans"].get("total")
    return NONE if total is None else milliseconds(total[statistic])


def timing(run: Run) -> str:
    """Return what every table of times needs beside it: that they are of this run, on how many queries, and how busy the machine was."""
    load, cores = run.manifest["load"], run.manifest["cores"]
    told = [
        f"Times were measured in this run, beside a load of {load['before']:.1f} at its begin and {load['after']:.1f} at its end, "
        f"on {cores} {'processor' if cores == 1 else 'processors'}."
    ]
    times = {name: system["latency"] for name, system in run.summary["systems"].items()}
    if sampled := sorted(name for name, latency in times.items() if 0 < latency["timed"] < run.summary["queries"]):
        fewest = min(times[name]["timed"] for name in sampled)
        told.append(f"{', '.join(sampled)}: on {fewest} of {run.summary['queries']} queries.")
    if busy(run):
        told.append("The machine was busy: more wanted a processor than there were, so these times are longer than they have to be.")
    return " ".join(told)


def beside(run: Run) -> str:
    """Return in a few words how busy the machine was, for a table whose times another one of the page explains."""
    load = max(run.manifest["load"].values())
    warning = ": busy, so times are longer than they have to be" if busy(run) else ""
    return (
        f"Latency was taken beside a load of up to {load:.1f} on {run.manifest['cores']} cores{warning}; the table of latencies says more."
    )


def under_load(run: Run) -> str:
    """Return in the fewest words how busy the machine was, for a table in the same document as `timing`."""
    return f"under a load of up to {max(run.manifest['load'].values()):.1f}"


def busy(run: Run) -> bool:
    """Return whether more processes wanted a processor than there were, so that times are longer than on a quiet machine."""
    return max(run.manifest["load"].values()) > run.manifest["cores"]


def qualified(label: str, run: Run, system: str) -> str:
    """Add to a system's label what its row would hide: queries that failed, and queries that another way answered for it."""
    summary, total = run.summary["systems"][system], run.summary["queries"]
    failed = summary["status"].get("failed", 0)
    fallen = sum(count for note, count in summary["notes"].items() if note.startswith(FELL_BACK))
    remarks = [f"{failed} failed"] * bool(failed) + [f"fell back on {100 * fallen / total:.0f} %"] * bool(fallen)
    return f"{label} ({', '.join(remarks)})" if remarks else label


def head_to_head(run: Run) -> list[list[str]]:
    """Return the head-to-head table: one row a system, its head first."""
    head = ["system", *(name for measure, name in HEADLINE.items() if measure in run.measures), "p50 ms", "tokens/query"]
    rows = [head]
    for name in run.systems:
        system = run.summary["systems"][name]
        quality = [amount(system["measures"][m]["mean"]) for m in HEADLINE if m in run.measures]
        rows.append([qualified(name, run, name), *quality, latency(system), f"{system['tokens']['mean']:,.0f}"])
    return rows


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Write rows for a terminal: the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(rows: Sequence[Sequence[Rich]], *, left: Iterable[int] = (0,)) -> str:
    """Write rows as a Markdown table, the first row as its head; the columns in `left` to the left, the others to the right."""
    to_the_left = set(left)
    lines = ["| " + " | ".join(map(rich, row)) + " |" for row in rows]
    rule = [":---" if column in to_the_left else "---:" for column in range(len(rows[0]))]
    return "\n".join((lines[0], "| " + " | ".join(rule) + " |", *lines[1:]))


def rich(text: Rich) -> str:
    """Write a text as Markdown, in which plain pieces are inert."""
    return "".join(_piece(piece) for piece in pieces(text))


def _piece(piece: Inline) -> str:
    if isinstance(piece, Link):
        return f"[{in_markdown(piece.text)}]({quote(piece.target, safe='/#=&')})"
    if isinstance(piece, Strong):
        return f"**{in_markdown(piece.text)}**"
    if isinstance(piece, Code):
        fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", piece.text)), default=0))
        pad = " " if fence != "`" else ""
        return f"{fence}{pad}{visible(piece.text).replace('|', chr(92) + '|')}{pad}{fence}"
    return in_markdown(piece)


def told_notices(manifest: Mapping[str, Any]) -> list[str]:
    """Return a line for each thing that a run has to say before its values are read."""
    return [f"NOTE {notice['system'] and notice['system'] + ': '}{notice['text']}" for notice in manifest.get("notices", ())]
