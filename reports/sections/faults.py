"""What went wrong, and what was noted on the way."""

from __future__ import annotations

from ...evaluation.record import Run
from ..document import Code, Items, Rich, Section, Strong
from ..standing import Standing


def failures(run: Run, standing: Standing) -> Section | None:
    """Return the systems that failed, whose queries count 0 in every table."""
    told: list[Rich] = []
    for failure in run.manifest["failures"]:
        n = failure["queries"]
        if not n:
            told.append([Strong(standing.label(failure["system"])), ": once it had answered: ", Code(failure["error"])])
            continue
        queries = f"{n} of {run.summary['queries']} {'query' if n == 1 else 'queries'}"
        told.append([Strong(standing.label(failure["system"])), f": {queries}, the first {failure['query']}: ", Code(failure["error"])])
    return Section("Failed: these queries count 0", [Items(told)]) if told else None


def notices(run: Run, standing: Standing) -> Section | None:
    """Return what is to be known before the values are read."""
    told: list[Rich] = []
    for notice in run.manifest.get("notices", ()):
        about = notice["system"]
        told.append([Strong(standing.label(about)), f": {notice['text']}"] if about else notice["text"])
    return Section("To know before reading on", [Items(told)]) if told else None


def notes(run: Run, standing: Standing) -> Section | None:
    """Return what systems noted, and the breaches of the contract that were repaired."""
    told = [
        f"{standing.label(name)}: {note} ({count} {'query' if count == 1 else 'queries'})"
        for name in run.systems
        for note, count in {**run.summary["systems"][name]["notes"], **run.summary["systems"][name]["faults"]}.items()
    ]
    return Section("What was noted on the way", [Items(told)], collapsed=True) if told else None
