"""Maximal marginal relevance: each next observation is relevant and yet unlike those taken before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question
from ..embedders.embedding import Embedder
from ..rounding import reaches
from ..text.rendering import embedded_text


class MMR:
    """Take, k times, the candidate of greatest λ × relevance − (1 − λ) × greatest cosine to one already taken.

    Relevance is the score, scaled so that the best candidate has 1 and the last 0, since fused scores are no cosines; a
    cosine below 0 counts 0. Ties go to the earlier candidate.
    Source: Carbonell and Goldstein, SIGIR 1998.

    Args:
        embedder: the one of the vector arm, whose cache makes the second embedding free.
        relevance: λ in [0, 1]; 1 leaves the order as it is.

    Raises:
        InputError: λ outside [0, 1].
    """

    def __init__(self, embedder: Embedder, relevance: float = 0.7) -> None:
        if not 0 <= relevance <= 1:
            raise InputError(f"relevance {relevance} is not in [0, 1]", where="stages.mmr.relevance")
        self.embedder, self.relevance = embedder, float(relevance)

    def bind(self, corpus: Corpus) -> _BoundMMR:
        """Embed the corpus as the vector arm does."""
        return _BoundMMR(self.embedder.embed([embedded_text(observation) for observation in corpus.observations]), self.relevance)


class _BoundMMR:
    def __init__(self, vectors: NDArray[np.float32], relevance: float) -> None:
        self.vectors, self.relevance = vectors, relevance

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        if len(candidates) == 0:
            return candidates
        vectors = self.vectors[candidates.rows].astype(np.float64)
        likeness = vectors @ vectors.T
        lowest, highest = candidates.scores.min(), candidates.scores.max()
        spread = highest - lowest
        worth = self.relevance * ((candidates.scores - lowest) / spread if spread > 0 else np.ones(len(candidates)))
        redundancy = np.zeros(len(candidates))
        taken: list[int] = []
        for _ in range(min(k, len(candidates))):
            gain = worth - (1 - self.relevance) * redundancy
            gain[taken] = -np.inf
            taken.append(int(np.argmax(reaches(gain, float(gain.max())))))
            redundancy = np.maximum(redundancy, likeness[taken[-1]])
        return candidates.take(taken)
