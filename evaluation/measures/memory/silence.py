"""silence: whether a memory says nothing where it knows nothing."""

from __future__ import annotations

import numpy as np

from ..gains import JudgedRun
from ..measure import NEVER, Contract, Measure, Values
from ..ties import Tied, TieInterval


class Silence(Measure):
    """1 where nothing came back for an unanswerable query, else 0."""

    name = "silence"
    aliases = ("silent",)
    meant_by = ("abstention", "abstain", "refusal", "empty", "unanswerable", "true_negative_rate", "specificity")
    cutoff = "refused"
    contract = Contract("1 if nothing came back for an unanswerable query, else 0", "1", NEVER, "answerable queries")

    def values(self, run: JudgedRun) -> Values:
        """Return 1 or 0, nan for an answerable query."""
        return np.where(run.seen(1, False).relevant > 0, np.nan, (run.returned == 0).astype(np.float64))

    def interval(self, tied: Tied) -> TieInterval:
        """Return one value, whatever the order."""
        return TieInterval(*[self.values(tied.run)] * 3)
