"""What happened in an application and what may be asked about it, before anything has an id or a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One remembered event; the fields are those of an `Observation`."""

    type: str
    title: str
    subtitle: str
    narrative: str
    facts: tuple[str, ...]
    concepts: tuple[str, ...]
    files: tuple[str, ...]
    importance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about events, by their keys.

    Attributes:
        relevant: event → grade: 2 answers the question, 1 helps.
        rests_on: further events without which the question makes no sense: a point in time, something superseded.
        asked_after: the event right after which it is asked; None asks it of the whole memory, other applications included.
    """

    id: str
    category: str
    text: str
    relevant: Mapping[str, int] = field(default_factory=dict)
    rests_on: tuple[str, ...] = ()
    asked_after: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Application:
    """The life of one application.

    Attributes:
        keys: its events by key, in the order in which they happened.
        superseded_by: event key → key of the later event that made it untrue.
        event: tells one event by its key; only then is it put into words.
    """

    keys: tuple[str, ...]
    superseded_by: Mapping[str, str]
    questions: tuple[Question, ...]
    event: Callable[[str], Event]

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Event key → its place in the order."""
        return {key: place for place, key in enumerate(self.keys)}
