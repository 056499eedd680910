"""as_of_recall@k: how much is found of what could be known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..gains import JudgedRun
from ..measure import ACROSS_K, Contract, Values
from ..query_measure import QueryMeasure, QueryOutcome, outcomes


class AsOfRecall(QueryMeasure):
    """recall@k of the relevant observations that existed at the moment of the question."""

    name = "as_of_recall"
    meant_by = ("recall_as_of", "temporal_recall", "time_aware_recall")
    contract = Contract(
        "recall@k of the relevant observations that existed at the moment of the question",
        "how many of them existed",
        ACROSS_K,
        "queries for which none existed",
    )
    asks_memory = True

    def value(self, outcome: QueryOutcome) -> float | None:
        """Return found / existing; None where none existed."""
        existing = set(filter(outcome.existed, outcome.relevant))
        return len(existing.intersection(outcome.ids[: self.k])) / len(existing) if existing else None

    def ceiling(self, perfect: JudgedRun) -> Values:
        """Return what the perfect ranking of those that existed scores."""
        known = [replace(outcome, ids=tuple(filter(outcome.existed, outcome.ids))) for outcome in outcomes(self, perfect)]
        return np.array([self._value(outcome) for outcome in known], np.float64)
