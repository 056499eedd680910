"""Where the relevant documents of a run stand: all that a measure needs to know, in flat arrays.

A list of a hundred hits holds a few relevant ones; everything else in it counts by the ranks it takes up alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ...retrieval.ranking import Hit

_ROWS_AT_ONCE = 2048
_HIGHEST_GRADE = 1000  # 2^1000 is still a float64, and so is the sum of a million such gains


@dataclass(frozen=True)
class Gains:
    """Relevant documents by query and rank, sorted by row, then rank; three arrays of equal length.

    Attributes:
        rows: the query's row.
        ranks: the rank, from 1.
        grades: the grade, ≥ 1.
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
        return self if grade <= 1 else self.take(self.grades >= grade)


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
        if len(grades) and grades.max() > _HIGHEST_GRADE:
            raise InputError(f"grade {grades.max()} is above {_HIGHEST_GRADE}")
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
class JudgedRun:
    """A run matched with its judgments.

    Attributes:
        queries: how many rows there are.
        found: the relevant documents that were returned, at their ranks.
        ideal: all relevant documents, at their ranks in the perfect ranking.
    """

    queries: int
    found: Gains
    ideal: Gains

    @classmethod
    def of(cls, qrels: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[Hit]]) -> JudgedRun:
        """Match canonical rankings with judgments; the rows are the judged queries, sorted by id.

        Raises:
            InputError: a grade is not a whole number, or beyond 1000.
        """
        found: list[tuple[int, int, int]] = []
        ideal: list[tuple[int, int, int]] = []
        for row, query in enumerate(sorted(qrels)):
            relevant = _relevant(qrels[query], query)
            ideal.extend((row, rank, grade) for rank, grade in enumerate(sorted(relevant.values(), reverse=True), 1))
            found.extend((row, rank, relevant[d]) for rank, (d, _) in enumerate(rankings.get(query, ()), 1) if d in relevant)
        return cls(len(qrels), Gains.of(found), Gains.of(ideal))

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
        return cls(judgments.queries, Gains(cells // depth, cells % depth + 1, judgments.grades[which]), judgments.ideal)


def _relevant(judged: Mapping[str, int], query: str) -> dict[str, int]:
    """Return the documents of grade ≥ 1; a fraction is refused, since cutting it off would silently turn .5 into 0."""
    for identifier, grade in judged.items():
        if not -_HIGHEST_GRADE <= grade <= _HIGHEST_GRADE or grade != int(grade):
            raise InputError(
                f"grade {grade} of {identifier!r} is not a whole number up to {_HIGHEST_GRADE}",
                where=f"query {query}",
                remedy="decide from which value on a document is relevant, and write 1 for it",
            )
    return {identifier: int(grade) for identifier, grade in judged.items() if grade >= 1}


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
