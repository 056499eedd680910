"""The memory of one scope as a retriever's parts see it: rows of a corpus, and candidates among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..datasets.errors import InputError
from ..datasets.model import Observation
from .rounding import reaches, settled
from .trace import ArmTrace, Trace

_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Corpus:
    """The observations of one scope, sorted by id, so that the order of rows is the order that breaks ties."""

    observations: tuple[Observation, ...]

    @classmethod
    def of(cls, observations: Iterable[Observation]) -> Corpus:
        """Sort by id.

        Raises:
            InputError: an id occurs twice.
        """
        ordered = tuple(sorted(observations, key=lambda o: o.id))
        for before, after in pairwise(ordered):
            if before.id == after.id:
                raise InputError(f"observation id {after.id!r} occurs twice in scope {after.scope!r}")
        return cls(ordered)

    def __len__(self) -> int:
        return len(self.observations)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids by row."""
        return tuple(o.id for o in self.observations)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Id → row."""
        return {identifier: row for row, identifier in enumerate(self.ids)}

    @cached_property
    def times(self) -> NDArray[np.float64]:
        """Seconds since the epoch, by row."""
        return np.array([o.timestamp.timestamp() for o in self.observations], dtype=np.float64)

    def now(self, asked_at: datetime | None) -> datetime:
        """Return the moment that a question looks back from: when it was asked, or where that is not known the last observation's."""
        return asked_at or datetime.fromtimestamp(self.times.max(initial=0.0), UTC)

    @cached_property
    def neighbours(self) -> NDArray[np.int64]:
        """The rows right before and after each row in its session, shape (rows, 2), −1 where there is none.

        A session runs by time, and at one time by id, its numbers read as numbers: turn 10 comes after turn 9. What has no
        session has no neighbours.
        """
        sessions: dict[str, list[int]] = {}
        for row, observation in enumerate(self.observations):
            if observation.session_id:
                sessions.setdefault(observation.session_id, []).append(row)
        beside = np.full((len(self), 2), -1, np.int64)
        for rows in sessions.values():
            rows.sort(key=lambda row: (self.observations[row].timestamp, _numbered(self.ids[row])))
            beside[rows[1:], 0], beside[rows[:-1], 1] = rows[:-1], rows[1:]
        return beside

    def visible(self, asked_at: datetime | None) -> NDArray[np.bool_] | None:
        """Return which rows existed at `asked_at`, as a mask of shape (rows,); None when all did."""
        if asked_at is None:
            return None
        mask = self.times <= asked_at.timestamp()
        return None if bool(mask.all()) else mask


def _numbered(identifier: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in _NUMBER.split(identifier)]


@dataclass(frozen=True)
class Candidates:
    """Rows of a corpus with their scores, best first, ties by row; both arrays have shape (n,).

    Attributes:
        every: the score of every row, shape (rows of the corpus,), NaN where a row was not visible; None where it is not known, as
            from an approximate index.
        trust: how far the arm is at home with this question, 0 to 1; a fusion multiplies the arm's weight by it.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    every: NDArray[np.float64] | None = None
    trust: float = 1.0

    @classmethod
    def none(cls) -> Candidates:
        """Return no candidates."""
        return cls(np.empty(0, np.int64), np.empty(0, np.float64))

    @classmethod
    def best(cls, rows: NDArray[np.integer], scores: NDArray[np.floating], limit: int) -> Candidates:
        """Keep the `limit` highest scores in canonical order: score descending, row ascending; equal scores become identical.

        Partition first, so that only the survivors and those tied with the last of them are sorted.
        """
        if limit <= 0 or len(rows) == 0:
            return cls.none()
        rows, scores = rows.astype(np.int64), scores.astype(np.float64)
        if len(rows) > limit:
            threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            keep = reaches(scores, threshold)
            rows, scores = rows[keep], scores[keep]
        scores = settled(scores)
        order = np.lexsort((rows, -scores))[:limit]
        return cls(rows[order], scores[order])

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, positions: Sequence[int] | NDArray[np.integer]) -> Candidates:
        """Return the candidates at these positions, in this order."""
        index = np.asarray(positions, dtype=np.int64)
        return Candidates(self.rows[index], self.scores[index])

    def traced(self, corpus: Corpus) -> ArmTrace:
        """Return them by id, for the trace."""
        return ArmTrace(tuple(corpus.ids[row] for row in self.rows), tuple(self.scores.tolist()))


@dataclass(frozen=True)
class Question:
    """What a search is asked, as every part of a pipeline sees it.

    `visible` masks the rows that existed when it was asked (shape (rows,)); None means all of them.
    `earlier` holds the candidates of the arms that ran before: for an arm those before it, for a stage all of them, with
    the arms' own scores. `trace` takes times and notes.
    """

    text: str
    asked_at: datetime | None = None
    visible: NDArray[np.bool_] | None = None
    earlier: Mapping[str, Candidates] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)


class ArmIndex(Protocol):
    """One arm over one corpus, ready to be searched."""

    def search(self, question: Question, limit: int) -> Candidates:
        """Return at most `limit` visible rows that really match; none when nothing does."""
        ...


class Arm(Protocol):
    """One way to find candidates: term match, vectors, a graph. It holds settings; what it builds holds the data."""

    def build(self, corpus: Corpus) -> ArmIndex:
        """Index one corpus."""
        ...


class Stage(Protocol):
    """One step between fusion and the answer: it reorders, rescores or drops candidates."""

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return candidates best first; their order counts, whatever their scores say."""
        ...


@runtime_checkable
class Bindable(Protocol):
    """A stage that needs something of each corpus, such as its vectors: it holds settings; what it binds holds the data."""

    def bind(self, corpus: Corpus) -> Stage:
        """Return the stage for one corpus."""
        ...


class Fusion(Protocol):
    """How the candidates of several arms become one list."""

    def fuse(self, arms: Mapping[str, Candidates]) -> Candidates:
        """Return the union, best first, ties by row."""
        ...
