"""mrr: how far down the first relevant observation stands."""

from __future__ import annotations

import numpy as np

from ..gains import Seen
from ..measure import ANY_RANK, Contract, RelevanceMeasure, Values
from ..ties import Groups, survival


class MRR(RelevanceMeasure):
    """1 / rank of the first relevant observation."""

    name = "mrr"
    aliases = ("rr", "recip_rank")
    meant_by = ("reciprocal", "reciprocal_rank", "mean_reciprocal_rank", "first_relevant", "first_hit", "reciprank")
    cutoff = "allowed"
    contract = Contract(
        "1 / rank of the first relevant observation in the whole list (mrr@k: in the first k), 0 without one", "1", ANY_RANK
    )

    def formula(self, seen: Seen) -> Values:
        """Return 1 / rank of the first relevant document, 0 without one."""
        first = seen.found.take(np.diff(seen.found.rows, prepend=-1) > 0).within(self.k)
        result = np.zeros(seen.queries)
        result[first.rows] = 1.0 / first.ranks
        return result

    def expected(self, groups: Groups, seen: Seen) -> Values:
        """Return Σ P(no relevant document stands earlier, and one here) / rank."""
        none_earlier = np.concatenate([np.empty(0), *(survival(n, h)[:n] for n, h in groups.sizes())])
        group, place = groups.place_group, groups.place
        chance = np.where(groups.before[group] == 0, none_earlier * groups.relevant[group] / (groups.size[group] - place), 0.0)
        return groups.summed(chance / groups.place_ranks, self.k)
