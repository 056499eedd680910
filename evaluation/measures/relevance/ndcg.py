"""ndcg@k: how well the order puts higher grades first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ....datasets.errors import InputError
from ..gains import Seen
from ..measure import ANY_RANK, Contract, Option, RelevanceMeasure, SumMeasure, Values

_READ = {"log2": "linear", "exp-log2": "exp"}


@dataclass(frozen=True)
class NDCG(SumMeasure):
    """Discounted gain of the first k, of that of the perfect ranking. Source: Järvelin and Kekäläinen, TOIS 2002.

    Attributes:
        gain: ``linear`` (the grade) or ``exp`` (2^grade − 1).
    """

    name = "ndcg"
    meant_by = ("normalized_discounted_cumulative_gain", "ndcgs", "normalised_discounted_cumulative_gain")
    cutoff = "allowed"
    contract = Contract(
        "sum over the first k of gain / log2(rank + 1); the gain is the grade, with gain=exp it is 2^grade − 1",
        "the same sum over the perfect ranking of all R, cut at k",
        ANY_RANK,
    )
    options: ClassVar[Mapping[str, tuple[str, Option]]] = {
        **RelevanceMeasure.options,
        "dcg": ("gain", lambda text: _READ.get(text, text)),
        "gain": ("gain", lambda text: _READ.get(text, text)),
    }

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {"ndcg_burges": {"gain": "exp"}}

    gain: str = "linear"

    def check(self) -> None:
        """Raise `InputError` for a gain that there is not."""
        if self.gain not in ("linear", "exp"):
            raise InputError(f"gain={self.gain} is not known", remedy="there are gain=linear and gain=exp")

    def worth(self, grades: NDArray[np.int64]) -> Values:
        """Return the grade or 2^grade − 1, 0 where it is not relevant."""
        relevant = np.where(grades >= self.rel, grades, 0)
        return np.exp2(relevant) - 1 if self.gain == "exp" else relevant.astype(np.float64)

    def discount(self, ranks: NDArray[np.int64]) -> Values:
        """Return log2(rank + 1)."""
        return np.log2(ranks + 1)

    def norm(self, seen: Seen) -> Values | float:
        """Return the sum over the perfect ranking."""
        ideal = self.total(seen, seen.ideal.rows, seen.ideal.ranks, self.worth(seen.ideal.grades))
        return np.where(seen.relevant == 0, 1.0, ideal)
