"""dcg@k: the discounted gain itself, for those who compare it across queries of equal worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..gains import Seen
from ..measure import ANY_RANK, Contract, Values
from .ndcg import NDCG


@dataclass(frozen=True)
class DCG(NDCG):
    """The sum over the first k that ndcg divides by that of the perfect ranking."""

    name = "dcg"
    meant_by = ("discounted_cumulative_gain", "cg", "cumulative_gain")
    contract = Contract(
        "sum over the first k of gain / log2(rank + 1); the gain is the grade, with gain=exp it is 2^grade − 1; can exceed 1",
        "1",
        ANY_RANK,
    )
    most = math.inf
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {"dcg_burges": {"gain": "exp"}}

    def norm(self, seen: Seen) -> Values:
        """Return 1 for each query."""
        return np.ones(len(seen.relevant))
