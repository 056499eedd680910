"""map: precision at every relevant observation, averaged."""

from __future__ import annotations

import numpy as np

from ..gains import Seen
from ..measure import ANY_RANK, Contract, RelevanceMeasure, Values
from ..ties import Groups


class AveragePrecision(RelevanceMeasure):
    """Σ precision at the rank of each relevant observation found / R."""

    name = "map"
    aliases = ("ap",)
    meant_by = ("average_precision", "mean_average_precision", "avep", "set_map")
    cutoff = "allowed"
    contract = Contract("sum over the relevant observations returned (map@k: in the first k) of the precision at their rank", "R", ANY_RANK)

    def formula(self, seen: Seen) -> Values:
        """Return Σ precision at the rank of each relevant document found / R."""
        found = seen.found.within(self.k)
        nth = found.condensed().ranks
        return np.bincount(found.rows, nth / found.ranks, minlength=seen.queries) / np.maximum(seen.relevant, 1)

    def expected(self, groups: Groups, seen: Seen) -> Values:
        """Return Σ P(relevant here) · E[precision here | relevant here] / R."""
        group, place = groups.place_group, groups.place
        others = place * (groups.relevant[group] - 1) / np.maximum(groups.size[group] - 1, 1)
        precision = (groups.before[group] + 1 + others) / groups.place_ranks
        return groups.summed(groups.gain[group] * precision, self.k) / np.maximum(seen.relevant, 1)
