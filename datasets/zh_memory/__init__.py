"""The data set ``zh_memory``: what an assistant remembers of one person in sixteen Chinese conversations, and questions about it.

Written by hand; labels name events, never words. The times are fixed, and ids tell nothing of the order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

from ..model import Dataset, Observation, Query
from ..yaml_file import read_yaml

LICENCE = "CC0-1.0"

_BEGIN, _PACE = time(20, tzinfo=UTC), timedelta(minutes=7)


def load_zh_memory() -> Dataset:
    """Return the 128 observations, in the order of time, and their questions."""
    events = dict(_events())
    later = {event["supersedes"]: key for key, event in events.items() if "supersedes" in event}
    return Dataset(
        name="zh_memory",
        observations=tuple(_observation(key, event, later.get(key)) for key, event in events.items()),
        queries=tuple(_query(question, events) for question in _read("questions")),
        licence=LICENCE,
    )


def _events() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each event by its key, with its session and time."""
    for session in _read("sessions"):
        for place, event in enumerate(session["events"]):
            moment = datetime.combine(session["date"], _BEGIN) + place * _PACE
            yield event["key"], {**event, "session_id": session["date"].isoformat(), "timestamp": moment}


def _observation(key: str, event: Mapping[str, Any], later: str | None) -> Observation:
    return Observation(
        id=_identifier(key),
        session_id=event["session_id"],
        timestamp=event["timestamp"],
        type=event["type"],
        title=event["title"],
        narrative=event["narrative"],
        facts=tuple(event.get("facts", ())),
        concepts=tuple(event["concepts"]),
        files=tuple(event.get("files", ())),
        importance=event["importance"],
        superseded_by=_identifier(later) if later else None,
    )


def _query(question: Mapping[str, Any], events: dict[str, Mapping[str, Any]]) -> Query:
    after = question.get("asked_after", next(reversed(events)))
    return Query(
        id=question["id"],
        text=question["text"],
        category=question["category"],
        relevant={_identifier(key): grade for key, grade in question.get("relevant", {}).items()},
        asked_at=events[after]["timestamp"] + timedelta(minutes=1),
        tags=tuple(question.get("tags", ())),
    )


def _identifier(key: str) -> str:
    return "z" + hashlib.sha256(key.encode()).hexdigest()[:8]


def _read(name: str) -> Any:
    return read_yaml(Path(__file__).with_name(f"{name}.yaml"))
