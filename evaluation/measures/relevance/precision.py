"""precision@k: how much of what is found is relevant."""

from __future__ import annotations

from ..gains import Seen
from ..measure import ACROSS_K, Contract, SumMeasure


class Precision(SumMeasure):
    """Relevant observations in the first k, of k."""

    name = "precision"
    aliases = ("p",)
    meant_by = ("positive_predictive_value", "purity", "set_precision")
    contract = Contract("relevant observations in the first k", "k, however few were returned", ACROSS_K)

    def norm(self, seen: Seen) -> float:
        """Return k."""
        return float(self.k or 1)
