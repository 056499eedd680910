"""rbp: what a reader gains who goes on to the next rank with probability p, and what nobody can know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....datasets.errors import InputError
from ..gains import Gains, Seen
from ..measure import ANY_RANK, Contract, SumMeasure, Values


@dataclass(frozen=True)
class RBP(SumMeasure):
    """Rank-biased precision. Source: Moffat and Zobel, TOIS 2008.

    Attributes:
        p: the probability of going on to the next rank, between 0 and 1.
    """

    name = "rbp"
    meant_by = ("rank_biased_precision", "persistence")
    cutoff = "allowed"
    contract = Contract("sum over the relevant observations returned (rbp@k: in the first k) of (1 − p) · p^(rank − 1)", "1", ANY_RANK)

    p: float = 0.8

    @classmethod
    def from_digits(cls, digits: str) -> dict[str, Any]:
        """Return p: ranx writes ``rbp.95``."""
        return {"p": float(f"0.{digits}")}

    def check(self) -> None:
        """Raise `InputError` for a p outside of 0 to 1."""
        if not 0 < self.p < 1:
            raise InputError(
                f"p={self.p} of {self.name!r} is not between 0 and 1", remedy="a reader goes on with probability p, such as 0.8"
            )

    def discount(self, ranks: NDArray[np.int64]) -> Values:
        """Return 1 / ((1 − p) · p^(rank − 1)), at most what a float holds."""
        return 1 / np.maximum((1 - self.p) * self.p ** (ranks - 1.0), np.finfo(np.float64).tiny)

    def norm(self, seen: Seen) -> float:
        """Return 1."""
        return 1.0


@dataclass(frozen=True)
class RBPResidual(RBP):
    """What rbp could grow by if everything unjudged were relevant: the weight of unjudged ranks and of those never shown."""

    name = "rbp_residual"
    meant_by = ("residual", "uncertainty")
    contract = Contract(
        "what rbp could grow by if all that is not judged, and all behind the last rank, were relevant; lower is better",
        "1",
        "ties of judged with other observations move it",
    )
    lower_is_better = True
    worst = 1.0

    def counted(self, seen: Seen) -> Gains:
        """Return everything judged."""
        return seen.judged

    def worth(self, grades: NDArray[np.int64]) -> Values:
        """Return 1, whatever the grade."""
        return np.ones(len(grades))

    def total(self, seen: Seen, rows: NDArray[np.int64], ranks: NDArray[np.int64], gains: Values) -> Values:
        """Return the weight of all ranks less that of the judged ones."""
        return 1 - (0 if self.k is None else self.p**self.k) - super().total(seen, rows, ranks, gains)
