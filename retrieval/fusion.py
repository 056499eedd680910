"""Fusions: several arms' candidates become one list."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..datasets.errors import InputError
from .corpus import Candidates
from .rounding import settled


class WeightedRRF:
    """Weighted reciprocal rank fusion: score = Σ weight / (k + rank), ranks from 1.

    Given weights are shared out anew among the arms that answered, so that they sum to 1 and a silent arm costs the
    others nothing. Without weights every arm counts 1, as published.
    Source: Cormack, Clarke and Büttcher, SIGIR 2009, with a weight an arm.

    Args:
        weights: arm → weight ≥ 0; an arm that is not named counts 1.
        k: the rank constant, > 0.
        agreement_bonus: with b > 0 the score is divided by the best attainable one and multiplied by
            1 + b × (arms that found it − 1), and ties are broken by the best rank first, then by id.

    Raises:
        InputError: a negative weight, or k ≤ 0.
    """

    def __init__(self, weights: Mapping[str, float] | None = None, k: float = 60.0, agreement_bonus: float = 0.0) -> None:
        self.weights = {name: float(weight) for name, weight in (weights or {}).items()}
        self.k, self.agreement_bonus = float(k), float(agreement_bonus)
        for name, weight in self.weights.items():
            if not weight >= 0:
                raise InputError(f"weight {weight} is negative", where=f"fusion.weights.{name}")
        if self.weights and not any(self.weights.values()):
            raise InputError("every weight is 0", where="fusion.weights", remedy="give one arm a weight above 0, or none a weight")
        if not self.k > 0:
            raise InputError(f"k {k} is not positive", where="fusion.k")
        if not self.agreement_bonus >= 0:
            raise InputError(f"agreement_bonus {agreement_bonus} is negative", where="fusion.agreement_bonus")

    def fuse(self, arms: Mapping[str, Candidates]) -> Candidates:
        """Return the union of the arms' candidates by fused score; an arm of weight 0 adds none of its own."""
        weights = {name: self.weights.get(name, 1.0) for name, found in arms.items() if len(found)}
        weights = {name: weight for name, weight in weights.items() if weight > 0}
        if not weights:
            return Candidates.none()
        total = sum(weights.values()) if self.weights else 1.0
        rows = np.unique(np.concatenate([arms[name].rows for name in weights]))
        scores, votes = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
        best_rank = np.full(len(rows), np.iinfo(np.int64).max)
        for name, weight in weights.items():
            at = np.searchsorted(rows, arms[name].rows)
            ranks = np.arange(1, len(at) + 1)
            scores[at] += weight / total / (self.k + ranks)
            votes[at] += 1
            best_rank[at] = np.minimum(best_rank[at], ranks)
        if self.agreement_bonus:
            scores = scores * (self.k + 1) / (sum(weights.values()) / total) * (1 + self.agreement_bonus * (votes - 1))
        else:
            best_rank[:] = 0
        scores = settled(scores)
        order = np.lexsort((rows, best_rank, -scores))
        return Candidates(rows[order].astype(np.int64), scores[order])
