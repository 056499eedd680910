"""What a vector index is: a kind with its settings, and the vectors of one corpus ready to be searched."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..corpus import Candidates
from ..embedders.embedding import Vectors


class VectorIndex(Protocol):
    """Vectors of one corpus, ready to be searched."""

    def search(self, vector: Vectors, limit: int, visible: NDArray[np.bool_] | None = None) -> Candidates:
        """Return the nearest visible rows with their cosine similarity in [−1, 1], best first, ties by row."""
        ...


class VectorIndexing(Protocol):
    """A kind of vector index with its settings."""

    def build(self, vectors: Vectors) -> VectorIndex:
        """Index L2-normalised vectors of shape (n, d); row i stands for row i of the corpus."""
        ...
