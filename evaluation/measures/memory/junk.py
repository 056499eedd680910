"""junk@k: how much a memory says where it knows nothing."""

from __future__ import annotations

import numpy as np

from ..gains import JudgedRun
from ..measure import NEVER, Contract, Measure, Values
from ..ties import Tied, TieInterval


class Junk(Measure):
    """How much of the first k was filled for an unanswerable query."""

    name = "junk"
    meant_by = ("noise", "garbage", "false_positives", "false_positive_rate", "hallucination")
    contract = Contract("observations returned for an unanswerable query, up to k; lower is better", "k", NEVER, "answerable queries")
    lower_is_better = True
    worst = 1.0

    def values(self, run: JudgedRun) -> Values:
        """Return the share, nan for an answerable query."""
        k = self.k or 1
        return np.where(run.seen(1, False).relevant > 0, np.nan, np.minimum(run.returned, k) / k)

    def interval(self, tied: Tied) -> TieInterval:
        """Return one value, whatever the order."""
        return TieInterval(*[self.values(tied.run)] * 3)
