"""How much of what exact search finds an approximate index finds too."""

from __future__ import annotations

import numpy as np

from ..embedders.embedding import Vectors
from ..rounding import reaches
from .exact import Exact, checked_matrix, cosines
from .vector_index import VectorIndex


def recall_against_exact(index: VectorIndex, vectors: Vectors, queries: Vectors, k: int = 20) -> float:
    """Return the mean share of the exact best `k` that `index` finds, in [0, 1]; 1 when there is nothing to find.

    A row counts as found when its similarity reaches the k-th best, so that among equals it does not matter which came.

    Args:
        index: the index to judge, built from `vectors`.
        vectors: L2-normalised, shape (n, d).
        queries: L2-normalised, shape (m, d).
        k: how many are asked for, ≥ 1.
    """
    matrix = checked_matrix(vectors)
    exact = Exact().build(matrix)
    shares = []
    for query in queries:
        best = exact.search(query, k)
        if len(best):
            found = np.unique(index.search(query, k).rows)
            shares.append(np.count_nonzero(reaches(cosines(matrix[found], query), best.scores[-1])) / len(best))
    return float(np.mean(shares)) if shares else 1.0
