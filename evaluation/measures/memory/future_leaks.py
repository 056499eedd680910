"""future_leaks: whether a memory presents what could not be known yet."""

from __future__ import annotations

import math

from ..measure import NEVER, Contract
from ..query_measure import QueryMeasure, QueryOutcome


class FutureLeaks(QueryMeasure):
    """How many observations of the whole list are later than the moment of the question."""

    name = "future_leaks"
    meant_by = ("leaks", "leakage", "from_the_future")
    cutoff = "refused"
    contract = Contract(
        "returned observations later than the moment of the question; lower is better", "1", NEVER, "queries without such a moment"
    )
    lower_is_better = True
    most = math.inf
    asks_memory = True

    def value(self, outcome: QueryOutcome) -> float | None:
        """Return the number; None where the question has no moment."""
        if outcome.query is None or outcome.query.asked_at is None:
            return None
        return float(sum(not outcome.existed(identifier) for identifier in outcome.ids))
