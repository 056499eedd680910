"""recall@k: how much of what is relevant is found."""

from __future__ import annotations

import numpy as np

from ..gains import Seen
from ..measure import ACROSS_K, Contract, SumMeasure, Values


class Recall(SumMeasure):
    """Relevant observations in the first k, of all relevant ones."""

    name = "recall"
    aliases = ("r",)
    meant_by = ("sensitivity", "coverage", "completeness", "set_recall", "num_rel_ret", "true_positive_rate")
    contract = Contract("relevant observations in the first k", "R", ACROSS_K)

    def norm(self, seen: Seen) -> Values:
        """Return R."""
        return np.maximum(seen.relevant, 1).astype(np.float64)
