"""Exact vector search: every row is compared with the query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates
from ..embedders.embedding import Vectors


class Exact:
    """The index that misses nothing, and the measure of those that may; good to about 100,000 vectors a scope."""

    def build(self, vectors: Vectors) -> ExactIndex:
        """Index L2-normalised vectors of shape (n, d).

        Raises:
            InputError: not a matrix, or a value in it is NaN or infinite.
        """
        return ExactIndex(checked_matrix(vectors))


class ExactIndex:
    """L2-normalised vectors of shape (n, d), searched by dot product, which on them is the cosine."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def search(self, vector: Vectors, limit: int, visible: NDArray[np.bool_] | None = None) -> Candidates:
        """Return the nearest visible rows with their cosine similarity in [−1, 1], best first, ties by row.

        One float32 product over all rows finds who can be among the best; those few are scored again in float64, each
        by the same sum, so that equal vectors tie whatever row they stand in and the order is the same on every machine. The
        float32 products of all visible rows go with them.

        Raises:
            InputError: the query's dimension is not the index's, or it holds NaN or infinity.
        """
        if limit <= 0 or len(self.vectors) == 0:
            return Candidates.none()
        check_query(vector, self.vectors.shape[1])
        estimates = np.vecdot(self.vectors, vector)  # row by row, so that equal vectors have equal scores in `every` too
        every = estimates.astype(np.float64)
        if visible is not None:
            estimates[~visible] = -np.inf
            every[~visible] = np.nan
        least = np.finfo(np.float32).min
        if len(estimates) > limit:
            last = np.partition(estimates, len(estimates) - limit)[len(estimates) - limit]
            least = max(least, last - rounding(len(vector)))
        rows = np.flatnonzero(estimates >= least)
        return replace(Candidates.best(rows, cosines(self.vectors[rows], vector), limit), every=every)


def rounding(dimensions: int) -> float:
    """Return twice the greatest error of a float32 dot product of two unit vectors, by which two of them may change places."""
    return dimensions * float(np.finfo(np.float32).eps)


def cosines(vectors: Vectors, vector: Vectors) -> NDArray[np.float64]:
    """Return the dot products of unit vectors of shape (n, d) with one of shape (d,), summed in float64, within [−1, 1]."""
    return np.clip(np.vecdot(vectors.astype(np.float64), vector.astype(np.float64)), -1.0, 1.0)


def checked_matrix(vectors: Vectors) -> Vectors:
    """Return the vectors as a contiguous float32 matrix.

    Raises:
        InputError: not a matrix, or a value in it is NaN or infinite.
    """
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    if matrix.ndim != 2:
        raise InputError(f"an array of shape {matrix.shape} is no matrix of vectors", where="vector index")
    if not np.isfinite(matrix).all():
        raise InputError("a vector holds NaN or infinity", where="vector index", remedy="see what the embedder gave")
    return matrix


def check_query(vector: Vectors, dimensions: int) -> None:
    """Refuse a query vector that is not of shape (`dimensions`,), which would silently hide memories, or not finite.

    Raises:
        InputError: it is one of these.
    """
    if vector.shape != (dimensions,):
        raise InputError(
            f"a query of shape {vector.shape} against vectors of {dimensions} dimensions",
            where="vector index",
            remedy="embed queries and observations with one model",
        )
    if not np.isfinite(vector).all():
        raise InputError("the query's vector holds NaN or infinity", where="vector index", remedy="see what the embedder gave")
