"""What the order of tied scores decides: the worst, expected and best value over all orders of the ties.

Within a group of equal scores every measure is best when the higher grades come first and worst when they come last, so
those two are the metrics of a rearranged run. The expected value is exact as well: a group of n documents, h of them
relevant, is a draw without replacement (after McSherry and Najork, ECIR 2008, who give it for the measures of their day).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...retrieval.ranking import Hit
from ...retrieval.rounding import bar
from .canonical import canonical_run
from .gains import Gains, JudgedRun
from .grammar import Measure
from .metrics import Values, gain, norm, total, values

_Integers = NDArray[np.int64]


class TieInterval(NamedTuple):
    """The values over all orders of tied scores; shape (queries,) each, nan where nothing is relevant."""

    worst: Values
    expected: Values
    best: Values

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Which queries have a value that depends on the order."""
        return self.worst < bar(self.best)


def tie_interval(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Sequence[Hit]], measures: Sequence[Measure]
) -> dict[str, TieInterval]:
    """Return the interval of each measure by canonical name, queries sorted by id.

    Ties among the hits returned are meant; what a retriever cut off behind the last one is not known.

    Raises:
        InputError: as `metrics.score`.
    """
    rankings = canonical_run(qrels, run)
    judged = JudgedRun.of(qrels, rankings)
    tied = _Tied.of(judged, list(rankings.values()))
    worst, best = (JudgedRun(judged.queries, found, judged.ideal) for found in (tied.last_in_group(), tied.first_in_group()))
    intervals = {}
    for measure in measures:
        low, high = values(measure, worst), values(measure, best)
        intervals[str(measure)] = TieInterval(low, np.clip(_expected(measure, tied, judged), low, high), high)
    return intervals


@dataclass(frozen=True)
class _Tied:
    """The relevant documents found, by row, then group of equal scores, then grade descending.

    `first` and `last` are the ranks at which the group of each begins and ends; `nth` is its place in the group, from 0.
    """

    rows: _Integers
    grades: _Integers
    first: _Integers
    last: _Integers
    nth: _Integers

    @classmethod
    def of(cls, judged: JudgedRun, rankings: Sequence[Sequence[Hit]]) -> _Tied:
        bounds = []
        for row, rank in zip(judged.found.rows.tolist(), judged.found.ranks.tolist(), strict=True):
            hits = rankings[row]
            key = -hits[rank - 1].score
            bounds.append((bisect_left(hits, key, key=_falling) + 1, bisect_right(hits, key, key=_falling)))
        first, last = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
        order = np.lexsort((-judged.found.grades, first, judged.found.rows))
        rows, first, last = judged.found.rows[order], first[order], last[order]
        opens = (np.diff(rows, prepend=-1) != 0) | (np.diff(first, prepend=-1) != 0)
        nth = np.arange(len(rows)) - np.flatnonzero(opens)[np.cumsum(opens) - 1] if len(rows) else rows
        return cls(rows, judged.found.grades[order], first, last, nth)

    def first_in_group(self) -> Gains:
        return Gains(self.rows, self.first + self.nth, self.grades)

    def last_in_group(self) -> Gains:
        ranks = self.last - self.nth
        order = np.lexsort((ranks, self.rows))
        return Gains(self.rows[order], ranks[order], self.grades[order])


@dataclass(frozen=True)
class _Groups:
    """Groups of equal scores that hold something relevant, by row, then rank; arrays of equal length.

    `size` documents begin at rank `first`, `relevant` of them relevant, with the mean gain `gain`; `before` counts the
    relevant ones in earlier groups of the row.
    """

    rows: _Integers
    first: _Integers
    size: _Integers
    relevant: _Integers
    before: _Integers
    gain: Values

    @classmethod
    def of(cls, tied: _Tied, measure: Measure) -> _Groups:
        keep = tied.grades >= measure.rel
        opens = np.flatnonzero(keep & (tied.nth == 0))  # the highest grade of a group comes first in it
        group = np.cumsum(tied.nth == 0)[keep]
        relevant = np.unique(group, return_counts=True)[1]
        gains = np.bincount(np.repeat(np.arange(len(opens)), relevant), gain(measure, tied.grades[keep]), minlength=len(opens))
        rows, size = tied.rows[opens], tied.last[opens] - tied.first[opens] + 1
        before = np.cumsum(relevant) - relevant
        return cls(rows, tied.first[opens], size, relevant, before - before[np.searchsorted(rows, rows)], gains / size)

    def within(self, limit: int | None) -> _Integers:
        """Return how many places of each group lie at ranks up to the limit."""
        return self.size if limit is None else np.clip(limit - self.first + 1, 0, self.size)


def _expected(measure: Measure, tied: _Tied, judged: JudgedRun) -> Values:
    ideal = judged.ideal.at_least(measure.rel)
    relevant = np.bincount(ideal.rows, minlength=judged.queries)
    groups = _Groups.of(tied, measure)
    if measure.name == "recall_any":
        return 1 - _product(groups.rows, _none_of(groups, groups.within(measure.k)), judged.queries)
    if measure.name == "recall_all":
        complete = np.bincount(groups.rows, groups.relevant, minlength=judged.queries) == relevant
        return complete * _product(groups.rows, _none_of(groups, groups.size - groups.within(measure.k)), judged.queries)
    group = np.repeat(np.arange(len(groups.rows)), groups.size)
    place = np.arange(len(group)) - (np.cumsum(groups.size) - groups.size)[group]
    rows, ranks = groups.rows[group], groups.first[group] + place
    if measure.name == "mrr":
        none_earlier = np.concatenate([np.empty(0), *(_survival(n, h)[:n] for n, h in _sizes(groups))])
        chance = np.where(groups.before[group] == 0, none_earlier * groups.relevant[group] / (groups.size[group] - place), 0.0)
        return _within(measure, rows, ranks, chance / ranks, judged.queries)
    if measure.name == "map":
        others = place * (groups.relevant[group] - 1) / np.maximum(groups.size[group] - 1, 1)
        precision = (groups.before[group] + 1 + others) / ranks
        return _within(measure, rows, ranks, groups.gain[group] * precision, judged.queries) / np.maximum(relevant, 1)
    return total(measure, rows, ranks, groups.gain[group], relevant) / norm(measure, ideal, relevant)


def _within(measure: Measure, rows: _Integers, ranks: _Integers, terms: Values, queries: int) -> Values:
    kept = slice(None) if measure.k is None else ranks <= measure.k
    return np.bincount(rows[kept], terms[kept], minlength=queries).astype(np.float64)


def _product(rows: _Integers, factors: Values, queries: int) -> Values:
    product = np.ones(queries)
    np.multiply.at(product, rows, factors)
    return product


def _none_of(groups: _Groups, places: _Integers) -> Values:
    """Return the probability that none of a group's relevant documents falls into so many given places of it."""
    return np.array([_survival(n, h)[m] for (n, h), m in zip(_sizes(groups), places.tolist(), strict=True)])


def _sizes(groups: _Groups) -> zip[tuple[int, int]]:
    return zip(groups.size.tolist(), groups.relevant.tolist(), strict=True)


@lru_cache(maxsize=1024)
def _survival(n: int, h: int) -> Values:
    """Return for m = 0 … n the probability that m draws out of n, h of them relevant, find none: C(n − h, m) / C(n, m)."""
    drawn = np.arange(n)
    return np.concatenate(([1.0], np.cumprod(np.maximum(n - h - drawn, 0) / (n - drawn))))


def _falling(hit: Hit) -> float:
    return -hit.score
