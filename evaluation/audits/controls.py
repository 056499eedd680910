"""Controls: retrievers whose result is known beforehand, so that a measure or a loop that errs shows."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from ...datasets.errors import InputError
from ...datasets.model import Observation, Query, moment
from ...retrieval.ranking import Control, Ranking


class _Memory:
    """The observations by scope, sorted by id."""

    def __init__(self) -> None:
        self._scopes: dict[str, list[Observation]] = {}

    def index(self, observations: Sequence[Observation]) -> None:
        """Take in the whole memory; a second call replaces the first."""
        scopes: dict[str, list[Observation]] = defaultdict(list)
        for observation in sorted(observations, key=lambda o: o.id):
            scopes[observation.scope].append(observation)
        self._scopes = dict(scopes)

    def _ids(self, scope: str, asked_at: datetime | None) -> list[str]:
        """Return what may be found: the ids of the scope that existed when it was asked."""
        return [o.id for o in self._scopes.get(scope, ()) if asked_at is None or o.timestamp <= asked_at]


class Random(_Memory):
    """A shuffle of the scope; the same for one seed and question, whatever was asked before.

    Raises:
        InputError: a seed that is not a whole number.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        if not isinstance(seed, int):
            raise InputError(f"seed {seed!r} is not a whole number", where="seed")
        self.seed = seed

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return `k` ids drawn without replacement."""
        ids = self._ids(scope, asked_at)
        digest = hashlib.sha256(f"{self.seed}\0{scope}\0{query}".encode()).digest()
        drawn = np.random.default_rng(int.from_bytes(digest)).permutation(len(ids))[: max(k, 0)]
        return _ranked(ids[position] for position in drawn.tolist())


class Constant(_Memory):
    """The same answer to every question of a scope: its first ids."""

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return the first `k` ids of the scope."""
        return _ranked(self._ids(scope, asked_at)[: max(k, 0)])


class Empty(_Memory):
    """Never an answer."""

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return nothing."""
        return Ranking()


class _Graded(_Memory, Control):
    """A control that knows the grade of everything that may be found."""

    def __init__(self) -> None:
        super().__init__()
        self._grades: dict[tuple[str, str, str | None], dict[str, int]] = {}

    def reveal(self, queries: Iterable[Query]) -> None:
        """Learn what answers each query; where two ask the same of the same scope, what answers either."""
        self._grades = {}
        for query in queries:
            grades = self._grades.setdefault((query.text, query.scope, moment(query.asked_at)), {})
            for identifier, grade in query.relevant.items():
                grades[identifier] = max(grade, grades.get(identifier, 0))

    def _graded(self, query: str, scope: str, asked_at: datetime | None) -> list[tuple[int, str]]:
        """Return (grade, id) of everything that may be found, by id; grade 0 for what does not answer."""
        grades = self._grades.get((query, scope, moment(asked_at)), {})
        return [(grades.get(identifier, 0), identifier) for identifier in self._ids(scope, asked_at)]


class Oracle(_Graded):
    """The best possible answer: everything relevant by grade, and nothing else."""

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return the relevant ids, the highest grade first."""
        relevant = sorted((-grade, identifier) for grade, identifier in self._graded(query, scope, asked_at) if grade)
        return _ranked(identifier for _, identifier in relevant[: max(k, 0)])


class Reversed(_Graded):
    """The worst possible answer: the whole scope with the irrelevant first and the best last."""

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return the first `k` ids of the lowest grade."""
        return _ranked(identifier for _, identifier in sorted(self._graded(query, scope, asked_at))[: max(k, 0)])


def _ranked(ids: Iterable[str]) -> Ranking:
    """Score ids given best first by their reciprocal rank."""
    return Ranking.of((identifier, 1 / rank) for rank, identifier in enumerate(ids, start=1))
