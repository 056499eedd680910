"""The vector arm: nearest observations by cosine similarity of their embeddings."""

from __future__ import annotations

from time import perf_counter

from ..corpus import Candidates, Corpus, Question
from ..embedders.embedding import Embedder
from ..indexes.exact import Exact
from ..indexes.vector_index import VectorIndex, VectorIndexing
from ..text.rendering import embedded_text


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
