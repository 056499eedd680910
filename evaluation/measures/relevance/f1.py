"""f1@k: the harmonic mean of precision and recall."""

from __future__ import annotations

from ..gains import Seen
from ..measure import ACROSS_K, Contract, SumMeasure, Values


class F1(SumMeasure):
    """2 · precision@k · recall@k / (precision@k + recall@k), which is 2 · hits / (k + R)."""

    name = "f1"
    aliases = ("f",)
    meant_by = ("f_score", "f_measure", "fscore", "f1_score", "set_f")
    contract = Contract("relevant observations in the first k", "the mean of k and R", ACROSS_K)

    def norm(self, seen: Seen) -> Values:
        """Return (k + R) / 2."""
        return ((self.k or 0) + seen.relevant) / 2
