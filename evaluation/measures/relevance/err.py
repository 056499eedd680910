"""err@k: how soon a reader is expected to be satisfied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....datasets.errors import InputError
from ..gains import Seen
from ..measure import ANY_RANK, Contract, RelevanceMeasure, Values
from ..ties import Groups


@dataclass(frozen=True)
class ERR(RelevanceMeasure):
    """Expected reciprocal rank: a reader stops at the first observation that satisfies. Source: Chapelle et al., CIKM 2009.

    Attributes:
        max_grade: the highest grade of the scale; a document of grade g satisfies with probability (2^g − 1) / 2^max_grade.
    """

    name = "err"
    meant_by = ("expected_reciprocal_rank", "cascade")
    cutoff = "allowed"
    contract = Contract(
        "sum over the first k of s / rank, times the chance that nothing above satisfied; s = (2^grade − 1) / 2^max_grade, max_grade 4",
        "1",
        ANY_RANK,
    )

    max_grade: int = 4

    def check(self) -> None:
        """Raise `InputError` for a scale without grades."""
        if not 1 <= self.max_grade <= 1000:
            raise InputError(
                f"max_grade={self.max_grade} of {self.name!r} is not from 1 to 1000", remedy="give the highest grade of the scale"
            )

    def worth(self, grades: NDArray[np.int64]) -> Values:
        """Return the probability that a document of each grade satisfies.

        Raises:
            InputError: a grade is above the scale.
        """
        if len(grades) and grades.max() > self.max_grade:
            raise InputError(
                f"grade {grades.max()} is above the scale of {self}, which ends at {self.max_grade}",
                remedy=f"ask for err(max_grade={grades.max()})",
            )
        return np.where(grades >= self.rel, (np.exp2(np.maximum(grades, 0)) - 1) / 2.0**self.max_grade, 0.0)

    def formula(self, seen: Seen) -> Values:
        """Return Σ s / rank · Π (1 − s) of those above."""
        found = seen.found.within(self.k)
        satisfied = self.worth(found.grades)
        result, open_still = np.zeros(seen.queries), np.ones(seen.queries)
        nth = found.condensed().ranks
        for turn in range(1, int(nth.max(initial=0)) + 1):
            now = nth == turn
            rows = found.rows[now]
            result[rows] += open_still[rows] * satisfied[now] / found.ranks[now]
            open_still[rows] *= 1 - satisfied[now]
        return result

    def expected(self, groups: Groups, seen: Seen) -> Values:
        """Return Σ (E[nobody satisfied before this place] − E[nobody up to it]) / rank; groups are independent draws."""
        result, open_still = np.zeros(seen.queries), np.ones(seen.queries)
        starts = np.searchsorted(groups.member_group, np.arange(len(groups.rows) + 1))
        for group, row in enumerate(groups.rows.tolist()):
            members = groups.members[starts[group] : starts[group + 1]]
            size, first = int(groups.size[group]), int(groups.first[group])
            unsatisfied = _mean_products(1 - members, size)
            places = min(size, max((self.k or first + size) - first + 1, 0))
            ranks = np.arange(first, first + places)
            result[row] += open_still[row] * ((unsatisfied[:places] - unsatisfied[1 : places + 1]) / ranks).sum()
            open_still[row] *= unsatisfied[size]
        return result


def _mean_products(factors: Values, size: int) -> Values:
    """Return for m = 0 … size the mean product of m draws without replacement from the factors and so many ones as fill up `size`.

    Taking in one more factor q to n others: the mean of m is ((n + 1 − m) · mean(m) + m · q · mean(m − 1)) / (n + 1).
    """
    means = np.ones(size + 1)
    for n, factor in enumerate(factors.tolist(), start=size - len(factors)):
        drawn = np.arange(1, n + 2)
        means[1 : n + 2] = ((n + 1 - drawn) * means[1 : n + 2] + drawn * factor * means[: n + 1]) / (n + 1)
    return means
