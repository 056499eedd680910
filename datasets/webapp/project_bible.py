"""Kilnhouse, the application whose whole life is written down by hand in ``bible/``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from .chance import Chance, Wording
from .events import Application, Event, Question

NAME = "Kilnhouse"

_PHASES = ("1-scaffolding", "2-authentication", "3-database", "4-api", "5-testing", "6-deployment")


def kilnhouse(seed: int) -> Application:
    """Return the hand-written application with its 240 events; the seed settles figures and phrases, never what happened."""
    wording = Wording(Chance(seed), _read("values"))
    events = tuple(_event(record, wording) for phase in _PHASES for record in _read(phase))
    questions = tuple(_question(record, wording, events[-1].key) for record in _read("questions"))
    return Application(NAME, events, questions)


def _event(record: Mapping[str, Any], wording: Wording) -> Event:
    key = record["key"]

    def settled(field: str) -> str:
        return wording.settle(record[field], f"{key}.{field}")

    return Event(
        key=key,
        type=record["type"],
        title=settled("title"),
        subtitle=settled("subtitle"),
        narrative=settled("narrative"),
        facts=tuple(wording.settle(fact, f"{key}.facts.{n}") for n, fact in enumerate(record["facts"].splitlines())),
        concepts=tuple(record["concepts"]),
        files=tuple(record["files"]),
        importance=record["importance"],
        supersedes=record.get("supersedes"),
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


@cache
def _read(name: str) -> Any:
    """Read one file of the bible; libyaml where it is built in, because 240 events take the pure reader half a second."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(files(__package__).joinpath(f"bible/{name}.yaml").read_text(encoding="utf-8"), loader)
