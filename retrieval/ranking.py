"""What a retriever is and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from ..datasets.model import Observation
from .trace import Trace


class Hit(NamedTuple):
    """One observation found, and how strongly; a higher score is better."""

    id: str
    score: float


@dataclass(frozen=True)
class Ranking:
    """The answer to one query: hits best first, at most k, no id twice, no NaN, real matches only.

    `trace` tells how the answer came about; a retriever that has nothing to tell leaves it out.
    """

    hits: tuple[Hit, ...] = ()
    trace: Trace | None = None

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, float]], trace: Trace | None = None) -> Ranking:
        """Build a ranking from (id, score) pairs given best first."""
        return cls(tuple(Hit(identifier, float(score)) for identifier, score in pairs), trace)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, best first."""
        return tuple(hit.id for hit in self.hits)


class Retriever(Protocol):
    """Any class with these two methods can be measured: name it by ``_target_`` in a system's YAML."""

    def index(self, observations: Sequence[Observation]) -> None:
        """Take in the whole memory, of all scopes; a second call replaces the first."""
        ...

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return at most `k` observations of `scope`, none of them later than `asked_at`."""
        ...
