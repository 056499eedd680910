"""What the order of tied scores decides: the worst, expected and best value over all orders of the ties.

Within a group of equal scores every relevance measure is best when the higher grades come first and worst when they come last,
so those two are the metrics of a rearranged run. The expected value is exact as well: a group of n documents, h of them relevant,
is a draw without replacement (after McSherry and Najork, ECIR 2008, who give it for the measures of their day).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...retrieval.ranking import Hit
from ...retrieval.rounding import bar
from .gains import Gains, JudgedRun

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]


class TieInterval(NamedTuple):
    """The values over all orders of tied scores; shape (queries,) each, nan for a query that the measure leaves out."""

    worst: _Floats
    expected: _Floats
    best: _Floats

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Which queries have a value that depends on the order."""
        return np.minimum(self.worst, self.best) < bar(np.maximum(self.worst, self.best))


@dataclass(frozen=True)
class Tied:
    """The judged documents found, by row, then group of equal scores, then grade descending.

    `first` and `last` are the ranks at which the group of each begins and ends; `nth` is its place in the group, from 0.
    """

    run: JudgedRun
    rows: _Integers
    grades: _Integers
    first: _Integers
    last: _Integers
    nth: _Integers

    @classmethod
    def of(cls, run: JudgedRun, rankings: Sequence[Sequence[Hit]]) -> Tied:
        """Find the group of each judged document in the canonical rankings that the run was made of."""
        bounds = []
        for row, rank in zip(run.found.rows.tolist(), run.found.ranks.tolist(), strict=True):
            hits = rankings[row]
            key = -hits[rank - 1].score
            bounds.append((bisect_left(hits, key, key=_falling) + 1, bisect_right(hits, key, key=_falling)))
        first, last = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
        order = np.lexsort((-run.found.grades, first, run.found.rows))
        rows, first, last = run.found.rows[order], first[order], last[order]
        return cls(run, rows, run.found.grades[order], first, last, np.arange(len(rows)) - _start_of_group(rows, first))

    @cached_property
    def best(self) -> JudgedRun:
        """The run with the higher grades of each group first."""
        return self.run.rearranged(Gains(self.rows, self.first + self.nth, self.grades))

    @cached_property
    def worst(self) -> JudgedRun:
        """The run with the higher grades of each group last."""
        ranks = self.last - self.nth
        order = np.lexsort((ranks, self.rows))
        return self.run.rearranged(Gains(self.rows[order], ranks[order], self.grades[order]))

    def condensed(self) -> Tied:
        """Return the groups as they are when only the judged documents are looked at."""
        rows = np.searchsorted(self.rows, self.rows)
        first = _start_of_group(self.rows, self.first) - rows + 1
        sizes = np.bincount(np.cumsum(self.nth == 0))[np.cumsum(self.nth == 0)] if len(self.rows) else self.first
        return replace(self, first=first, last=first + sizes - 1)


@dataclass(frozen=True)
class Groups:
    """Groups of equal scores that hold something judged, by row, then rank; arrays of equal length.

    `size` documents begin at rank `first`, `relevant` of them relevant and `refuted` judged not to be, with the mean gain `gain`;
    `before` counts the relevant ones in earlier groups of the row, `refuted_before` the refuted ones. `members` are the gains of
    the judged documents, group by group, `member_group` their groups.
    """

    queries: int
    rows: _Integers
    first: _Integers
    size: _Integers
    relevant: _Integers
    refuted: _Integers
    before: _Integers
    refuted_before: _Integers
    gain: _Floats
    members: _Floats
    member_group: _Integers

    @classmethod
    def of(cls, tied: Tied, rel: int, gain: Callable[[_Integers], _Floats]) -> Groups:
        """Sum up each group, for a measure to which a document is relevant from grade `rel` on and worth ``gain(grades)``."""
        opens = np.flatnonzero(tied.nth == 0)
        group = np.cumsum(tied.nth == 0) - 1
        members = gain(tied.grades)

        def counted(mask: NDArray[np.bool_]) -> _Integers:
            return np.bincount(group[mask], minlength=len(opens))

        rows, size = tied.rows[opens], tied.last[opens] - tied.first[opens] + 1
        relevant, refuted = counted(tied.grades >= rel), counted(tied.grades < rel)
        row_opens = np.searchsorted(rows, rows)
        before, refuted_before = ((total := np.cumsum(counts) - counts) - total[row_opens] for counts in (relevant, refuted))
        mean = np.bincount(group, members, minlength=len(opens)) / size
        queries = tied.run.queries
        return cls(queries, rows, tied.first[opens], size, relevant, refuted, before, refuted_before, mean, members, group)

    @cached_property
    def place_group(self) -> _Integers:
        """The group of every place that the groups take up, in rank order."""
        return np.repeat(np.arange(len(self.rows)), self.size)

    @cached_property
    def place(self) -> _Integers:
        """Which place of its group each one is, from 0."""
        return np.arange(len(self.place_group)) - (np.cumsum(self.size) - self.size)[self.place_group]

    @property
    def place_rows(self) -> _Integers:
        """The row of every place."""
        return self.rows[self.place_group]

    @property
    def place_ranks(self) -> _Integers:
        """The rank of every place."""
        return self.first[self.place_group] + self.place

    def within(self, limit: int | None) -> _Integers:
        """Return how many places of each group lie at ranks up to the limit."""
        return self.size if limit is None else np.clip(limit - self.first + 1, 0, self.size)

    def summed(self, terms: _Floats, limit: int | None) -> _Floats:
        """Return each query's sum of the terms, one a place, at ranks up to the limit."""
        kept = slice(None) if limit is None else self.place_ranks <= limit
        return np.bincount(self.place_rows[kept], terms[kept], minlength=self.queries).astype(np.float64)

    def none_of(self, places: _Integers) -> _Floats:
        """Return for each query the probability that no relevant document falls into so many given places of its groups."""
        chances = np.array([survival(n, h)[m] for (n, h), m in zip(self.sizes(), places.tolist(), strict=True)])
        product = np.ones(self.queries)
        np.multiply.at(product, self.rows, chances)
        return product

    def sizes(self) -> zip[tuple[int, int]]:
        """Iterate over size and number of relevant documents of each group."""
        return zip(self.size.tolist(), self.relevant.tolist(), strict=True)


@lru_cache(maxsize=1024)
def survival(n: int, h: int) -> _Floats:
    """Return for m = 0 … n the probability that m draws out of n, h of them relevant, find none: C(n − h, m) / C(n, m)."""
    drawn = np.arange(n)
    return np.concatenate(([1.0], np.cumprod(np.maximum(n - h - drawn, 0) / (n - drawn))))


def _start_of_group(rows: _Integers, first: _Integers) -> _Integers:
    opens = (np.diff(rows, prepend=-1) != 0) | (np.diff(first, prepend=-1) != 0)
    return np.flatnonzero(opens)[np.cumsum(opens) - 1] if len(rows) else rows


def _falling(hit: Hit) -> float:
    return -hit.score
