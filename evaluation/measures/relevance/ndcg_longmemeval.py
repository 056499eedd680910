"""ndcg_longmemeval@k: what LongMemEval calls nDCG."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..gains import Seen
from ..measure import ANY_RANK, Contract, SumMeasure, Values


class LongMemEvalNDCG(SumMeasure):
    """LongMemEval's own nDCG, as its scripts compute it: the first two ranks weigh the same."""

    name = "ndcg_longmemeval"
    contract = Contract(
        "LongMemEval's own nDCG, not nDCG: binary gain, undiscounted at ranks 1 and 2, then divided by log2(rank)",
        "the same sum over the perfect ranking of all R, cut at k",
        ANY_RANK,
    )

    def discount(self, ranks: NDArray[np.int64]) -> Values:
        """Return log2(rank), and 1 at the first rank."""
        return np.log2(np.maximum(ranks, 2))

    def norm(self, seen: Seen) -> Values:
        """Return the sum over the perfect ranking."""
        ideal = self.total(seen, seen.ideal.rows, seen.ideal.ranks, self.worth(seen.ideal.grades))
        return np.where(seen.relevant == 0, 1.0, ideal)
