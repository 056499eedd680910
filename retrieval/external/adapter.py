"""What all external systems have in common: equal terms on the way in, nothing repaired on the way out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from ...datasets.errors import InputError
from ...datasets.model import Observation
from ...datasets.unicode import encodable
from ..embedders.embedding import Embedder, Vectors
from ..ranking import Ranking
from ..text.rendering import indexed_text
from ..timing import clock
from ..trace import Trace
from .catalogue import Catalogue, Partition

Found = Iterable[tuple[str, float]]
"""Document ids with scores as a system gave them, best first; a higher score is better."""

ASKING: ContextVar[Trace] = ContextVar("asking")
"""The trace of the search under way, also for code that a framework calls back."""


class Store(Protocol):
    """One scope inside an external system, ready to be searched."""

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        """Return what the system answers when asked for `k`."""
        ...


class Adapter(ABC):
    """A retriever around an external system.

    Every system gets the same observations under opaque ids, the same text as our own arm of its kind, one scope apart
    from the others, and the same k. What it answers is handed on as it came, so that its faults show. Only a system that
    cuts texts into chunks is asked for more (`oversample` × k), and its chunks become observations: each counts with its
    best chunk, and the best k stay.
    """

    packages: ClassVar[tuple[str, ...]] = ()
    """Distributions whose versions belong into the report."""
    text = staticmethod(indexed_text)
    """What the system is given to read of an observation."""
    chunked = False
    oversample = 1

    _catalogue = Catalogue((), indexed_text)
    _stores: Mapping[str, Store] = MappingProxyType({})

    @abstractmethod
    def build(self, partition: Partition) -> Store:
        """Take in one scope."""

    def open(self) -> None:  # noqa: B027 (most systems have nothing to open)
        """Start from nothing; called before the scopes are built."""

    def close(self) -> None:
        """Let go of what was indexed, with its processes, connections and files; the system can be indexed again."""
        self._stores = MappingProxyType({})

    def index(self, observations: Sequence[Observation]) -> None:
        """Give the system all observations, scope by scope; a second call replaces the first."""
        self.close()
        self._catalogue = Catalogue(observations, self.text)
        try:
            with clock.uncharged():  # loading a library or starting a program is no indexing
                self.open()
            self._stores = {scope: self.build(partition) for scope, partition in self._catalogue.partitions.items()}
        except BaseException:
            self.close()
            raise

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return what the system answers, under the observations' own ids; nothing when the scope is unknown or k < 1."""
        trace = Trace()
        store = self._stores.get(scope)
        if store is None or k < 1:
            return Ranking(trace=trace)
        token = ASKING.set(trace)
        try:
            with trace.span("total"):
                answer = store.search(encodable(query), k * self.oversample, asked_at)
                found = [(self._catalogue.original(identifier), score) for identifier, score in answer]
        finally:
            ASKING.reset(token)
        return Ranking.of(_merged(found, k, trace) if self.chunked else found, trace)

    def report(self) -> dict[str, Any]:
        """Return the versions of the packages that answered."""
        return {"packages": {name: _version(name) for name in self.packages}}


def _merged(chunks: Sequence[tuple[str, float]], k: int, trace: Trace) -> list[tuple[str, float]]:
    best: dict[str, float] = {}
    for identifier, score in chunks:
        best[identifier] = max(score, best.get(identifier, score))
    if len(best) < len(chunks):
        trace.notes.append(f"{len(chunks)} chunks of {len(best)} observations; each counts with its best chunk")
    return list(best.items())[:k]


def query_vector(embedder: Embedder, query: str) -> Vectors:
    """Embed the query of the search under way, shape (d,), as a span of its trace."""
    with ASKING.get().span("embed"):
        return embedder.embed_query(query)


def positive(name: str, value: float) -> float:
    """Return a setting.

    Raises:
        InputError: it is not above 0.
    """
    if not value > 0:
        raise InputError(f"{name} is {value!r}", where=name, remedy="give a number above 0")
    return value


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
