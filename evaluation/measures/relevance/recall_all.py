"""recall_all@k: whether everything relevant is found."""

from __future__ import annotations

import numpy as np

from ..gains import Seen
from ..measure import ACROSS_K, Contract, RelevanceMeasure, Values
from ..ties import Groups


class RecallAll(RelevanceMeasure):
    """1 if all relevant observations are in the first k, else 0."""

    name = "recall_all"
    meant_by = ("all", "full_recall", "complete_recall")
    contract = Contract("1 if all R relevant observations are in the first k, else 0", "1", ACROSS_K)

    def formula(self, seen: Seen) -> Values:
        """Return 1 where the first k hold enough."""
        return (seen.found.within(self.k).counts(seen.queries) == seen.relevant).astype(np.float64)

    def expected(self, groups: Groups, seen: Seen) -> Values:
        """Return the chance of it."""
        complete = np.bincount(groups.rows, groups.relevant, minlength=seen.queries) == seen.relevant
        return complete * groups.none_of(groups.size - groups.within(self.k))
