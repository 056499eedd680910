"""r_precision: precision at as many as are relevant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..gains import Seen
from ..measure import Contract, SumMeasure, Values


class RPrecision(SumMeasure):
    """Relevant observations in the first R, of R."""

    name = "r_precision"
    aliases = ("rprec",)
    meant_by = ("precision_at_r", "break_even", "breakeven", "break_even_point")
    cutoff = "refused"
    contract = Contract("relevant observations in the first R", "R", "only ties across rank R move it")

    def limit(self, seen: Seen, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return R of each row."""
        return seen.relevant[rows]

    def norm(self, seen: Seen) -> Values:
        """Return R."""
        return np.maximum(seen.relevant, 1).astype(np.float64)
