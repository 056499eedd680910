"""Fusions: several arms' candidates become one list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
        self.weights = _checked(weights)
        self.k, self.agreement_bonus = float(k), float(agreement_bonus)
        if not self.k > 0:
            raise InputError(f"k {k} is not positive", where="fusion.k")
        if not self.agreement_bonus >= 0:
            raise InputError(f"agreement_bonus {agreement_bonus} is negative", where="fusion.agreement_bonus")

    def fuse(self, arms: Mapping[str, Candidates]) -> Candidates:
        """Return the union of the arms' candidates by fused score; an arm of weight 0 adds none of its own."""
        weights = _of_answers(arms, self.weights)
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


class Normalisation(Protocol):
    """How the scores of an arm are brought onto one scale with those of another."""

    def scale(self, scores: NDArray[np.float64]) -> tuple[float, float]:
        """Return what is taken off each score and what it is divided by then; 0 says that the scores tell nothing apart."""
        ...


class ZScore:
    """Standard scores: the mean is taken off, and what is left divided by the standard deviation."""

    def scale(self, scores: NDArray[np.float64]) -> tuple[float, float]:
        """Return mean and standard deviation."""
        return float(scores.mean()), float(scores.std())


class MinMax:
    """Scores from 0 for the lowest to 1 for the highest."""

    def scale(self, scores: NDArray[np.float64]) -> tuple[float, float]:
        """Return the lowest score and the spread."""
        return float(scores.min()), float(scores.max() - scores.min())


class Unscaled:
    """Scores as they are, of an arm that has a scale of its own."""

    def scale(self, scores: NDArray[np.float64]) -> tuple[float, float]:
        """Return 0 and 1."""
        return 0.0, 1.0


class ConvexCombination:
    """Scores of several arms on one scale, added up with weights: score = Σ weight × trust × (score − offset) / unit.

    The scale is that of all rows that were visible, so that a score says how far it stands out of the whole memory. An arm
    that does not score every row is scaled by what it found, and what it did not find counts as its lowest. Listed are the
    rows that some arm found. Weights are shared out so that they sum to 1; an arm that found nothing is left out.
    Source: Bruch, Gai and Ingber, An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023.

    Args:
        weights: arm → weight ≥ 0; an arm that is not named counts 1.
        normalisation: arm → its scale; `ZScore` for an arm that is not named.

    Raises:
        InputError: a negative weight, or no weight above 0.
    """

    def __init__(self, weights: Mapping[str, float] | None = None, normalisation: Mapping[str, Normalisation] | None = None) -> None:
        self.weights = _checked(weights)
        self.normalisation = dict(normalisation or {})

    def fuse(self, arms: Mapping[str, Candidates]) -> Candidates:
        """Return what the arms found by combined score; the score of every row goes with it where some arm knows it."""
        weights = _of_answers(arms, self.weights)
        if not weights:
            return Candidates.none()
        total = sum(weights.values())
        rows = np.unique(np.concatenate([arms[name].rows for name in weights]))
        size = max((len(found.every) for found in arms.values() if found.every is not None), default=int(rows[-1]) + 1)
        known = any(arms[name].every is not None for name in weights)
        scores = np.zeros(size)
        for name, weight in weights.items():
            scores += weight / total * _scaled(arms[name], self.normalisation.get(name, ZScore()), size)
        fused = Candidates.best(rows, scores[rows], len(rows))
        return replace(fused, every=scores) if known else fused


def _scaled(found: Candidates, normalisation: Normalisation, size: int) -> NDArray[np.float64]:
    """Return an arm's scores on the common scale, shape (size,); NaN where a row was not visible."""
    if found.every is None:
        scores = np.full(size, found.scores.min())
        scores[found.rows] = found.scores
        offset, unit = normalisation.scale(found.scores)
    else:
        scores = found.every
        offset, unit = normalisation.scale(scores[~np.isnan(scores)])
    return (scores - offset) / unit if unit > 0 else np.where(np.isnan(scores), scores, 0.0)


def _checked(weights: Mapping[str, float] | None) -> dict[str, float]:
    checked = {name: float(weight) for name, weight in (weights or {}).items()}
    for name, weight in checked.items():
        if not weight >= 0:
            raise InputError(f"weight {weight} is negative", where=f"fusion.weights.{name}")
    if checked and not any(checked.values()):
        raise InputError("every weight is 0", where="fusion.weights", remedy="give one arm a weight above 0, or none a weight")
    return checked


def _of_answers(arms: Mapping[str, Candidates], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of each arm that answered, times its trust in the answer; an arm of weight 0 is left out."""
    found = {name: weights.get(name, 1.0) * candidates.trust for name, candidates in arms.items() if len(candidates)}
    return {name: weight for name, weight in found.items() if weight > 0}
