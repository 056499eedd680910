"""Reading what an external system answered: hits somewhere in a JSON value."""

from __future__ import annotations

import json
import math
from typing import Any

from .failure import ExternalError

Hits = list[tuple[str, float]]


def pick(value: Any, path: str) -> Any:
    """Follow a path such as ``data.0.metadata.id`` through objects and lists; the empty path is the value itself.

    Raises:
        KeyError: the path leads nowhere; the message names the step.
    """
    for step in path.split(".") if path else ():
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.lstrip("-").isdigit() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            raise KeyError(step)
    return value


def read_hits(system: str, answer: Any, *, hits: str = "hits", id: str = "id", score: str | None = "score") -> Hits:
    """Return (id, score) pairs in the order in which they came.

    Args:
        system: named in errors.
        answer: what the system said.
        hits: path to the list of hits.
        id: path inside a hit to the id that the observation was given out under.
        score: path inside a hit to its score; None takes 1 / rank. A null is read as NaN, which is how JavaScript writes it.

    Raises:
        ExternalError: there is no such list, or a hit without an id or with a score that is no number.
    """
    entries = _at(system, answer, hits, "the answer")
    if not isinstance(entries, list):
        raise ExternalError(system, f"{hits!r} is no list: {_as_json(entries)}")
    found: Hits = []
    for number, entry in enumerate(entries):
        place = f"{hits}[{number}]"
        identifier = _at(system, entry, id, place)
        if not isinstance(identifier, str):
            raise ExternalError(system, f"{place}: the id is no text: {_as_json(identifier)}")
        found.append((identifier, 1 / (number + 1) if score is None else _number(system, _at(system, entry, score, place), place)))
    return found


def _at(system: str, value: Any, path: str, place: str) -> Any:
    try:
        return pick(value, path)
    except KeyError:
        raise ExternalError(system, f"no {path!r} in {place}: {_as_json(value)}") from None


def _number(system: str, value: Any, place: str) -> float:
    if value is None or value != value:
        return math.nan  # one object, so that two equal answers compare equal
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExternalError(system, f"{place}: the score is no number: {_as_json(value)}")
    return float(value)


def excerpt(content: bytes) -> str:
    """Return the beginning of what a system sent, for an error."""
    return repr(content.decode("utf-8", "replace").strip()[:120])


def _as_json(value: Any) -> str:
    return json.dumps(value)[:120]
