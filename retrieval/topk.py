"""The best of a score for every row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .corpus import Candidates
from .rounding import reaches

_BLOCK = 64


def top_k(scores: NDArray[np.float64], k: int, visible: NDArray[np.bool_] | None = None) -> Candidates:
    """Return the `k` best visible rows of `scores`, shape (rows,); a row that scores 0 or less doesn't match.

    `visible` masks what may be found, shape (rows,); None is all. The scores of what may not are set to 0 in place.

    The k-th best of the maxima of disjoint blocks is no better than the k-th best score, so rows below it are out. Finding it
    reads the scores once, while a partition of all that match costs several times as much.
    """
    if visible is not None:
        scores[~visible] = 0.0
    blocks = len(scores) // _BLOCK
    threshold = 0.0
    if blocks > k > 0:
        maxima = scores[: blocks * _BLOCK].reshape(_BLOCK, blocks).max(axis=0)
        threshold = np.partition(maxima, blocks - k)[blocks - k]
    rows = np.flatnonzero(reaches(scores, threshold) if threshold > 0 else scores > 0)
    return Candidates.best(rows, scores[rows], k)
