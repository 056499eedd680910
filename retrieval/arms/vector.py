"""The vector arm: nearest observations by cosine similarity of their embeddings."""

from __future__ import annotations

from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..corpus import Candidates, Corpus, Question
from ..embedders.embedding import Embedder, Vectors
from ..indexes.exact import Exact
from ..text.rendering import embedded_text


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


class Vector:
    """Embed the observations when indexed and the query when asked; the nearest are the candidates.

    Args:
        embedder: gives L2-normalised vectors, so that the dot product is the cosine.
        index: how the nearest are found; exact search when None.
    """

    def __init__(self, embedder: Embedder, index: VectorIndexing | None = None) -> None:
        self.embedder, self.index = embedder, index or Exact()

    def build(self, corpus: Corpus) -> _VectorIndex:
        """Embed the whole corpus."""
        vectors = self.embedder.embed([embedded_text(observation) for observation in corpus.observations])
        return _VectorIndex(self.embedder, self.index.build(vectors))


class _VectorIndex:
    def __init__(self, embedder: Embedder, index: VectorIndex) -> None:
        self.embedder, self.index = embedder, index

    def search(self, question: Question, limit: int) -> Candidates:
        if not question.text.strip():
            return Candidates.none()
        began = perf_counter()
        vector, milliseconds = self.embedder.embed_query(question.text)
        question.trace.replay("embed", milliseconds, spent=(perf_counter() - began) * 1e3)
        return self.index.search(vector, limit, question.visible)
