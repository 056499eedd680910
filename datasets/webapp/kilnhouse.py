"""Kilnhouse, the application whose whole life is written down by hand in ``history/``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .chance import Chance, Wording
from .events import Application, Event, Question
from .history_files import history

_PHASES = ("1-scaffolding", "2-authentication", "3-database", "4-api", "5-testing", "6-deployment")


def kilnhouse(seed: int) -> Application:
    """Return the hand-written application with its 240 events; the seed settles figures and phrases, never what happened."""
    wording = Wording(Chance(seed), history("values"))
    records = {record["key"]: record for phase in _PHASES for record in history(phase)}
    keys = tuple(records)
    return Application(
        keys=keys,
        superseded_by={record["supersedes"]: key for key, record in records.items() if "supersedes" in record},
        questions=tuple(_question(record, wording, keys[-1]) for record in history("questions")),
        event=lambda key: _event(records[key], wording),
    )


def _event(record: Mapping[str, Any], wording: Wording) -> Event:
    key = record["key"]

    def settled(field: str) -> str:
        return wording.settle(record[field], f"{key}.{field}")

    return Event(
        type=record["type"],
        title=settled("title"),
        subtitle=settled("subtitle"),
        narrative=settled("narrative"),
        facts=tuple(wording.settle(fact, f"{key}.facts.{n}") for n, fact in enumerate(record["facts"].splitlines())),
        concepts=tuple(record["concepts"]),
        files=tuple(record["files"]),
        importance=record["importance"],
    )


def _question(record: Mapping[str, Any], wording: Wording, last: str) -> Question:
    return Question(
        id=record["id"],
        category=record["category"],
        text=wording.settle(record["text"], record["id"]),
        relevant=record.get("relevant", {}),
        rests_on=tuple(record.get("rests_on", ())),
        asked_after=record.get("asked_after", last),
        tags=("core",) if record.get("core") else (),
    )
