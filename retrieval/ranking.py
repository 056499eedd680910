"""What a retriever is and what it answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ..datasets.model import Observation, Query
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
    """Any class with these two methods can be measured: name it by ``_target_`` in a system's YAML.

    What it may do besides is written down below: `Reporting`, `Closable` and `Control`.
    """

    def index(self, observations: Sequence[Observation]) -> None:
        """Take in the whole memory, of all scopes; a second call replaces the first."""
        ...

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return at most `k` observations of `scope`, none of them later than `asked_at`."""
        ...


@runtime_checkable
class Reporting(Protocol):
    """A retriever that has something to say of itself once it has answered, which the run keeps."""

    def report(self) -> Mapping[str, Any]:
        """Return it, JSON-ready."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A retriever that holds what must be let go of: a process, a connection, a file."""

    def close(self) -> None:
        """Let go of it; the retriever answers nothing more."""
        ...


class Control(ABC):
    """A retriever that is told the labels, so that its result is known beforehand.

    A class says so by deriving from this one: a method of the right name is not enough to be told what answers a query.
    """

    @abstractmethod
    def reveal(self, queries: Iterable[Query]) -> None:
        """Learn what answers each query; called once, before `index`."""


class Wrapper(Control):
    """A retriever that changes what another is given or asked, and is in all else what that one is.

    Args:
        retriever: the other one.
    """

    def __init__(self, retriever: Retriever) -> None:
        self.retriever = retriever

    def reveal(self, queries: Iterable[Query]) -> None:
        """Tell the labels to the retriever if it is a control; nothing of them is kept here."""
        if isinstance(self.retriever, Control):
            self.retriever.reveal(queries)

    def index(self, observations: Sequence[Observation]) -> None:
        """Hand the memory on."""
        self.retriever.index(observations)

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Hand the question on."""
        return self.retriever.search(query, k, scope=scope, asked_at=asked_at)

    def report(self) -> Mapping[str, Any]:
        """Return what the retriever has to say of itself."""
        return self.retriever.report() if isinstance(self.retriever, Reporting) else {}

    def close(self) -> None:
        """Close the retriever, if it can be closed."""
        if isinstance(self.retriever, Closable):
            self.retriever.close()
