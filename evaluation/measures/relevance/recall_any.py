"""recall_any@k: whether anything relevant is found, by many called hit rate or success."""

from __future__ import annotations

import numpy as np

from ..gains import Seen
from ..measure import ACROSS_K, Contract, RelevanceMeasure, Values
from ..ties import Groups


class RecallAny(RelevanceMeasure):
    """1 if any relevant observation is in the first k, else 0."""

    name = "recall_any"
    aliases = ("hit_rate", "success", "hit")
    meant_by = ("hits", "hitrate", "any", "accuracy", "top_k_accuracy", "hit_ratio")
    contract = Contract("1 if any relevant observation is in the first k, else 0; also called hit rate or success", "1", ACROSS_K)

    def formula(self, seen: Seen) -> Values:
        """Return 1 where the first k hold enough."""
        return (seen.found.within(self.k).counts(seen.queries) > 0).astype(np.float64)

    def expected(self, groups: Groups, seen: Seen) -> Values:
        """Return the chance of it."""
        return 1 - groups.none_of(groups.within(self.k))
