"""judged@k: how much of what is found has been judged at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..gains import Gains, Seen
from ..measure import Contract, SumMeasure, Values


class Judged(SumMeasure):
    """Judged observations in the first k, relevant or not: how far the other measures can be trusted."""

    name = "judged"
    meant_by = ("judgement_rate", "judgment_rate", "assessed", "holes", "unjudged")
    cutoff = "allowed"
    contract = Contract(
        "observations in the first k that were judged, relevant or not",
        "k, or as many as were returned",
        "ties of judged with other observations across rank k move it",
    )

    def counted(self, seen: Seen) -> Gains:
        """Return everything judged."""
        return seen.judged

    def worth(self, grades: NDArray[np.int64]) -> Values:
        """Return 1, whatever the grade."""
        return np.ones(len(grades))

    def norm(self, seen: Seen) -> Values:
        """Return k, or how many were returned if that is less."""
        return np.maximum(seen.returned if self.k is None else np.minimum(seen.returned, self.k), 1).astype(np.float64)
