"""When two scores are equal: where they differ by rounding alone.

A sum has other last bits in another order of its terms, with another processor's vector instructions, or with another number of
threads. What is equal on paper must stay equal, so that ids break the tie on every machine. This is the one rule, for every arm,
fusion, stage, cutoff and ranking, before ties are broken:

From the best score down, a score that lies within `TOLERANCE` of the best of the current group, relative to that best, belongs to
the group and counts as equal to it; the first that doesn't begins the next group. A group is therefore never wider than the
tolerance, however dense the scores, and a ranking of few is the beginning of a ranking of many.

The tolerance is thousands of units in the last place, more than sums of thousands of terms lose; real differences of scores in
float64 lie far above it. It does not join what float32 rounds apart.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-12

_Scores = TypeVar("_Scores", float, NDArray[np.float64])


def bar(score: _Scores) -> _Scores:
    """Return the least that counts as equal to a score."""
    return score - TOLERANCE * abs(score)


def reaches(score: _Scores, limit: float) -> bool | NDArray[np.bool_]:
    """Return whether a score is at least `limit`, or below it by rounding alone; elementwise for an array."""
    return score >= bar(limit)


def below(score: float) -> float:
    """Return a score that is less than the given one by hardly more than rounding can be."""
    return score - 4 * TOLERANCE * max(abs(score), float(np.finfo(np.float64).tiny) / TOLERANCE)


def settled(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the scores with those that are equal made identical: each gets the best of its group.

    Args:
        scores: shape (..., n) in any order, not NaN; each row of the last axis by itself.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape[-1] < 2:
        return scores
    order = np.argsort(-scores, axis=-1)
    falling = np.take_along_axis(scores, order, axis=-1)
    opens = np.ones(scores.shape, np.bool_)
    opens[..., 1:] = _beyond(falling[..., 1:], falling[..., :-1])
    if opens.all():
        return scores
    first = np.maximum.accumulate(np.where(opens, np.arange(scores.shape[-1]), 0), axis=-1)
    best = np.take_along_axis(falling, first, axis=-1)
    for row in np.argwhere(_beyond(falling, best).any(axis=-1)):  # neighbours may form a chain that is longer than the tolerance
        best[tuple(row)] = _along(falling[tuple(row)].tolist())
    result = np.empty_like(scores)
    np.put_along_axis(result, order, best, axis=-1)
    return result


def falls(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether the scores of each row fall with no two of them equal; shape (..., n) to (...), False where there is a NaN."""
    return np.asarray(_beyond(scores[..., 1:], scores[..., :-1]).all(axis=-1))


def _beyond(scores: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.bool_]:
    with np.errstate(over="ignore", invalid="ignore"):  # the least float64, and infinities, which are refused elsewhere
        return scores < bar(best)


def _along(falling: list[float]) -> list[float]:
    best, result = falling[0], []
    for score in falling:
        if score < bar(best):
            best = score
        result.append(best)
    return result
