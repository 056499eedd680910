"""Which queries hang together: the units of chance are groups of queries, such as the questions about one conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Clusters:
    """Queries in groups; a query of no group is a group by itself.

    Attributes:
        labels: the group of each query, from 0, shape (queries,).
    """

    labels: NDArray[np.intp]

    @classmethod
    def of(cls, groups: Sequence[str]) -> Clusters:
        """Make groups of queries with one name; "" names none."""
        known: dict[str, int] = {}
        labels = [known.setdefault(group or f"\0{row}", len(known)) for row, group in enumerate(groups)]
        return cls(np.array(labels, np.intp))

    @classmethod
    def alone(cls, queries: int) -> Clusters:
        """Take every query by itself."""
        return cls(np.arange(queries))

    @cached_property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.labels.max()) + 1 if len(self.labels) else 0

    @property
    def grouped(self) -> bool:
        """Whether any two queries hang together."""
        return self.count < len(self.labels)

    @property
    def effective(self) -> int:
        """How many groups of one size would weigh as much as these do, rounded down (Kish 1965)."""
        return int(len(self.labels) ** 2 / (self.sizes**2).sum() + 1e-9) if len(self.labels) else 0

    @cached_property
    def sizes(self) -> Floats:
        """How many queries each group has, shape (groups,)."""
        return np.bincount(self.labels, minlength=self.count).astype(np.float64)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of each group, shape (…, groups), of values of shape (…, queries)."""
        if not self.grouped:
            return values
        rows = np.atleast_2d(values)
        sums = np.array([np.bincount(self.labels, weights=row, minlength=self.count) for row in rows], np.float64)
        return sums.reshape(*values.shape[:-1], self.count)

    def standard_error(self, values: Floats) -> float:
        """Return the standard error of the mean of `values`, shape (queries,), where groups are drawn and not queries.

        The mean is a ratio of sums over groups; this is its linearised error. Source: Cochran, Sampling Techniques, 1977, section 9A.
        """
        if self.count < 2:
            return float("inf")
        deviations = self.sums(values - values.mean())
        return float(np.sqrt(self.count / (self.count - 1) * (deviations**2).sum())) / len(values)

    def design_effect(self, values: Floats) -> float:
        """Return how many times the variance of the mean is what it were if every query stood by itself; at least 1 (Kish 1965)."""
        plain = float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0
        if not self.grouped or plain == 0 or self.count < 2:
            return 1.0
        return max(1.0, self.standard_error(values) ** 2 / plain)
