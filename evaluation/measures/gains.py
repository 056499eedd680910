"""Where the judged documents of a run stand: all that most measures need to know, in flat arrays.

A list of a hundred hits holds a few relevant ones; everything else in it counts by the ranks it takes up alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ...datasets.model import HIGHEST_GRADE, Observation, Query
from ...retrieval.ranking import Hit

_ROWS_AT_ONCE = 2048


@dataclass(frozen=True)
class Gains:
    """Documents by query and rank, sorted by row, then rank; three arrays of equal length.

    Attributes:
        rows: the query's row.
        ranks: the rank, from 1.
        grades: the grade; ≥ 1 means relevant.
    """

    rows: NDArray[np.int64]
    ranks: NDArray[np.int64]
    grades: NDArray[np.int64]

    @classmethod
    def of(cls, triples: Sequence[tuple[int, int, int]]) -> Gains:
        """Gather (row, rank, grade) triples that are sorted already."""
        columns = np.array(triples, dtype=np.int64).reshape(-1, 3)
        return cls(columns[:, 0], columns[:, 1], columns[:, 2])

    def take(self, keep: NDArray[np.bool_]) -> Gains:
        """Return those under the mask."""
        return Gains(self.rows[keep], self.ranks[keep], self.grades[keep])

    def at_least(self, grade: int) -> Gains:
        """Return those of this grade or a higher one."""
        return self.take(self.grades >= grade)

    def within(self, limit: int | None) -> Gains:
        """Return those at ranks up to the limit."""
        return self if limit is None else self.take(self.ranks <= limit)

    def counts(self, queries: int) -> NDArray[np.int64]:
        """Return how many there are of each of so many queries."""
        return np.bincount(self.rows, minlength=queries)

    def condensed(self) -> Gains:
        """Return them ranked among themselves."""
        return Gains(self.rows, np.arange(len(self.rows)) - np.searchsorted(self.rows, self.rows) + 1, self.grades)


@dataclass(frozen=True)
class Judgments:
    """Relevant documents of many queries in columns, sorted by row, then grade descending; arrays of equal length.

    Attributes:
        queries: how many rows there are, those without a relevant document among them.
        rows: the query's row.
        documents: the document's number.
        grades: the grade, ≥ 1.
    """

    queries: int
    rows: NDArray[np.int64]
    documents: NDArray[np.int32]
    grades: NDArray[np.int64]

    @classmethod
    def of(cls, queries: int, rows: NDArray[np.integer], documents: NDArray[np.integer], grades: NDArray[np.integer]) -> Judgments:
        """Sort the columns and leave out grades below 1.

        Raises:
            InputError: a document is judged twice for one query, or a grade is above 1000.
        """
        relevant = grades >= 1
        rows, documents, grades = rows[relevant].astype(np.int64), documents[relevant].astype(np.int32), grades[relevant].astype(np.int64)
        order = np.lexsort((documents, -grades, rows))
        rows, documents, grades = rows[order], documents[order], grades[order]
        if len(grades) and grades.max() > HIGHEST_GRADE:
            raise InputError(f"grade {grades.max()} is above {HIGHEST_GRADE}")
        by_document = np.lexsort((documents, rows))
        twice = (np.diff(rows[by_document]) == 0) & (np.diff(documents[by_document]) == 0)
        if twice.any():
            at = by_document[int(np.argmax(twice))]
            raise InputError(f"document {documents[at]} is judged twice", where=f"row {rows[at]}")
        return cls(queries, rows, documents, grades)

    @property
    def ideal(self) -> Gains:
        """The perfect ranking: every relevant document, highest grade first."""
        return Gains(self.rows, np.arange(len(self.rows)) - self.starts[self.rows] + 1, self.grades)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each row begins, shape (queries,)."""
        return np.searchsorted(self.rows, np.arange(self.queries))


@dataclass(frozen=True)
class Seen:
    """A run as a measure sees it, to which a document is relevant from some grade on.

    Attributes:
        queries: how many rows there are.
        found: the relevant documents that were returned, at their ranks; `ideal` all of them, at their ranks in the perfect ranking.
        relevant: how many relevant documents each query has, shape (queries,); `refuted` how many that are judged not to be.
        judged: all judged documents that were returned, at their ranks; grade 0 or below stands for judged not relevant.
        returned: how many documents came back, shape (queries,).
    """

    queries: int
    found: Gains
    ideal: Gains
    relevant: NDArray[np.int64]
    refuted: NDArray[np.int64]
    judged: Gains
    returned: NDArray[np.int64]


@dataclass(frozen=True)
class Context:
    """What a measure may need to know beyond the judgments.

    Attributes:
        queries: by id.
        observations: by id; at least what is relevant to a query, was returned, or was superseded by what is relevant.
        failed: the queries whose retriever raised.
    """

    queries: Mapping[str, Query]
    observations: Mapping[str, Observation]
    failed: Collection[str] = ()

    @cached_property
    def superseded(self) -> Mapping[str, Sequence[str]]:
        """Observation → those that it superseded, in one step, sorted."""
        predecessors: dict[str, list[str]] = {}
        for identifier in sorted(self.observations):
            successor = self.observations[identifier].superseded_by
            if successor is not None:
                predecessors.setdefault(successor, []).append(identifier)
        return predecessors


class Lists(NamedTuple):
    """What a run was made of, row by row, for measures that look at a query's whole list."""

    query_ids: Sequence[str]
    qrels: Mapping[str, Mapping[str, int]]
    rankings: Sequence[Sequence[Hit]]


@dataclass(frozen=True)
class JudgedRun:
    """A run matched with its judgments.

    Attributes:
        queries: how many rows there are.
        found: the judged documents that were returned, at their ranks; grade 0 or below stands for judged not relevant.
        ideal: all relevant documents, at their ranks in the perfect ranking.
        refuted: how many documents each query has that are judged not relevant, shape (queries,).
        returned: how many documents came back, shape (queries,).
        lists: what it was made of; None where it was made of arrays.
        context: queries and observations themselves; None where only judgments are known.
    """

    queries: int
    found: Gains
    ideal: Gains
    refuted: NDArray[np.int64]
    returned: NDArray[np.int64]
    lists: Lists | None = None
    context: Context | None = None
    _seen: dict[tuple[int, bool], Seen] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, qrels: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[Hit]], context: Context | None = None) -> JudgedRun:
        """Match canonical rankings with judgments; the rows are the judged queries, sorted by id.

        Raises:
            InputError: a grade is not a whole number, or beyond 1000.
        """
        query_ids = sorted(qrels)
        ideal, refuted = _ideal([qrels[query] for query in query_ids], query_ids)
        found: list[tuple[int, int, int]] = []
        returned = np.zeros(len(qrels), np.int64)
        for row, query in enumerate(query_ids):
            if hits := rankings.get(query):
                judged, returned[row] = qrels[query], len(hits)
                if not judged.keys().isdisjoint(ids := [hit[0] for hit in hits]):
                    found.extend((row, rank, int(judged[d])) for rank, d in enumerate(ids, 1) if d in judged)
        lists = Lists(query_ids, qrels, [rankings.get(query, ()) for query in query_ids])
        return cls(len(qrels), Gains.of(found), ideal, refuted, returned, lists, context)

    def perfect(self) -> JudgedRun:
        """Return the run that returns every relevant document, highest grade first, and nothing else."""
        return replace(self, found=self.ideal, returned=self.ideal.counts(self.queries), lists=None, _seen={})

    @cached_property
    def failed(self) -> NDArray[np.bool_]:
        """Which queries have a retriever that raised."""
        if self.context is None or self.lists is None or not self.context.failed:
            return np.zeros(self.queries, bool)
        return np.array([query in self.context.failed for query in self.lists.query_ids], bool)

    def rearranged(self, found: Gains) -> JudgedRun:
        """Return the run with its judged documents at other ranks."""
        return JudgedRun(self.queries, found, self.ideal, self.refuted, self.returned, self.lists, self.context)

    def seen(self, rel: int, condensed: bool) -> Seen:
        """Return the run as a measure sees it to which a document is relevant from grade `rel` on.

        Args:
            condensed: rank the judged documents among themselves, as if the others had not been returned.
        """
        if (rel, condensed) not in self._seen:
            judged = self.found.condensed() if condensed else self.found
            ideal = self.ideal.at_least(rel)
            relevant = np.bincount(ideal.rows, minlength=self.queries)
            below = np.bincount(self.ideal.rows, minlength=self.queries) - relevant
            returned = judged.counts(self.queries) if condensed else self.returned
            self._seen[rel, condensed] = Seen(self.queries, judged.at_least(rel), ideal, relevant, self.refuted + below, judged, returned)
        return self._seen[rel, condensed]

    @classmethod
    def match(cls, documents: NDArray[np.integer], judgments: Judgments) -> JudgedRun:
        """Match a matrix of rankings with judgments.

        Args:
            documents: shape (queries, depth), in canonical order; −1 where nothing more was returned.
            judgments: of the same rows.

        Raises:
            InputError: another number of rows, or a relevant document twice in one row.
        """
        if documents.ndim != 2 or len(documents) != judgments.queries:
            raise InputError(f"rankings of shape {documents.shape} for {judgments.queries} queries")
        depth = max(documents.shape[1], 1)
        starts = judgments.starts
        counts = np.bincount(judgments.rows, minlength=judgments.queries)
        parts = [_find(documents[at : at + _ROWS_AT_ONCE], judgments, starts, counts, at) for at in range(0, len(documents), _ROWS_AT_ONCE)]
        cells, which = (np.concatenate([part[side] for part in parts]) if parts else np.empty(0, np.int64) for side in (0, 1))
        times = np.bincount(which, minlength=1)
        if times.max() > 1:
            twice = int(times.argmax())
            raise InputError(f"document {judgments.documents[twice]} is ranked twice", where=f"row {judgments.rows[twice]}")
        found = Gains(cells // depth, cells % depth + 1, judgments.grades[which])
        return cls(judgments.queries, found, judgments.ideal, np.zeros(judgments.queries, np.int64), (documents >= 0).sum(axis=1))


def _ideal(judged: Sequence[Mapping[str, int]], query_ids: Sequence[str]) -> tuple[Gains, NDArray[np.int64]]:
    """Return the relevant documents of each row, highest grade first, and how many are judged not relevant.

    A fraction is refused, since cutting it off would silently turn .5 into 0.
    """
    rows = np.repeat(np.arange(len(judged)), [len(of) for of in judged])
    given = np.array([grade for of in judged for grade in of.values()])
    grades = given.astype(np.int64) if given.dtype.kind in "iub" else np.zeros(0, np.int64)
    if len(grades) != len(rows) or (len(grades) and np.abs(grades).max() > HIGHEST_GRADE):
        grades = np.array([_whole(of[d], d, q) for of, q in zip(judged, query_ids, strict=True) for d in of], np.int64)
    relevant = grades >= 1
    refuted = np.bincount(rows[~relevant], minlength=len(judged))
    rows, grades = rows[relevant], grades[relevant]
    order = np.lexsort((-grades, rows))
    return Gains(rows[order], np.ones(len(rows), np.int64), grades[order]).condensed(), refuted


def _whole(grade: float, identifier: str, query: str) -> int:
    if not -HIGHEST_GRADE <= grade <= HIGHEST_GRADE or grade != int(grade):
        raise InputError(
            f"grade {grade} of {identifier!r} is not a whole number up to {HIGHEST_GRADE}",
            where=f"query {query}",
            remedy="decide from which value on a document is relevant, and write 1 for it",
        )
    return int(grade)


def _find(
    documents: NDArray[np.integer], judgments: Judgments, starts: NDArray[np.int64], counts: NDArray[np.int64], offset: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the flat cells of the whole matrix that hold a relevant document, ascending, and which judgment each one meets.

    The j-th judgment of every row is compared with the whole block at once: that costs a few passes over a block which
    stays in the cache, where looking each of its cells up would be the slowest part of all.
    """
    depth = documents.shape[1]
    here, of = counts[offset : offset + len(documents)], starts[offset : offset + len(documents)]
    cells, which = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for j in range(int(here.max())):
        rows = np.flatnonzero(here > j)
        block = documents if len(rows) == len(documents) else documents[rows]
        judgment = of[rows] + j
        row, column = np.divmod(np.flatnonzero(block == judgments.documents[judgment][:, None]), max(depth, 1))
        cells.append((rows[row] + offset) * depth + column)
        which.append(judgment[row])
    flat, judged = np.concatenate(cells), np.concatenate(which)
    order = np.argsort(flat)
    return flat[order], judged[order]
