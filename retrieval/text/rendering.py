"""An observation's fields as text, joined for each purpose."""

from __future__ import annotations

from collections.abc import Iterable

from ...datasets.model import Observation


def indexed_text(observation: Observation) -> str:
    """Return what term match indexes: title, subtitle, narrative, facts, concepts, files and type."""
    o = observation
    return _joined((o.title, o.subtitle, o.narrative, *o.facts, *o.concepts, *o.files, o.type))


def embedded_text(observation: Observation) -> str:
    """Return what an embedder reads: title, subtitle, narrative, facts and concepts."""
    o = observation
    return _joined((o.title, o.subtitle, o.narrative, *o.facts, *o.concepts))


def scanned_text(observation: Observation) -> str:
    """Return what a scan without an index reads: title, narrative, concepts and facts."""
    o = observation
    return _joined((o.title, o.narrative, *o.concepts, *o.facts))


def render(observation: Observation) -> str:
    """Return the observation as an agent is shown it, which is what its tokens are counted from."""
    o = observation
    lines = (f"## {o.title}" if o.title else "", o.narrative, f"Concepts: {', '.join(o.concepts)}" if o.concepts else "")
    return "\n".join(line for line in lines if line)


def _joined(parts: Iterable[str]) -> str:
    return " ".join(part for part in parts if part)
