"""Neighbours: what was said just before and after a good hit is likely to matter too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question


class SessionNeighbours:
    """Add to each score `weight` × the mean score of the observations right before and after it in its session.

    Their scores are those of the fusion for every row where it gives them (`ConvexCombination`), else those of the candidates. What
    stands next to a candidate becomes one.

    Args:
        weight: what the neighbours count, ≥ 0.
        types: the types of observation that are understood from what stands beside them; others stay as they are.

    Raises:
        InputError: a negative weight.
    """

    def __init__(self, weight: float = 0.2, types: Sequence[str] = ("turn",)) -> None:
        if not weight >= 0:
            raise InputError(f"weight {weight} is negative", where="stages.neighbours.weight")
        self.weight, self.types = float(weight), frozenset(types)

    def bind(self, corpus: Corpus) -> _BoundNeighbours:
        """Find the neighbours of every row."""
        speaks = np.array([o.type in self.types for o in corpus.observations], np.bool_)
        return _BoundNeighbours(self.weight, np.where(speaks[:, None], corpus.neighbours, -1))


class _BoundNeighbours:
    def __init__(self, weight: float, neighbours: NDArray[np.int64]) -> None:
        self.weight, self.neighbours = weight, neighbours
        self.any = bool((neighbours >= 0).any())

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        if len(candidates) == 0 or not self.any:
            return candidates
        scores = _every(candidates, len(corpus))
        raised = scores + self.weight * _mean(scores, self.neighbours)
        rows = np.unique(np.concatenate((candidates.rows, self.neighbours[candidates.rows].ravel())))
        rows = rows[rows >= 0]
        rows = rows[~np.isnan(raised[rows])]
        return replace(Candidates.best(rows, raised[rows], len(rows)), every=raised)


def _every(candidates: Candidates, size: int) -> NDArray[np.float64]:
    if candidates.every is not None:
        return candidates.every
    scores = np.full(size, np.nan)
    scores[candidates.rows] = candidates.scores
    return scores


def _mean(scores: NDArray[np.float64], neighbours: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean over those neighbours of each row that have a score, 0 where none has; shape (rows,)."""
    beside = np.where(neighbours >= 0, scores[neighbours], np.nan)
    there = ~np.isnan(beside)
    return np.where(there, beside, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
