"""Rerank: a slower, closer look at the first few candidates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question
from ..rounding import settled
from ..text.analysis import Analysis, Analyzer
from ..text.rendering import embedded_text


class Scorer(Protocol):
    """What judges a question and a text together."""

    def score(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return one score a text, shape (n,), higher for a better answer."""
        ...


class Rerank:
    """Put the first `depth` candidates into the order of a scorer, ties as before; the rest follow.

    The scores stay where they were: whoever is first gets the first's score, so that later stages see the scale they know.

    Args:
        scorer: a cross-encoder, or any other; None stands for `SharedWords`, which needs no model.
        depth: how many candidates are looked at, ≥ 1.

    Raises:
        InputError: a depth below 1.
    """

    def __init__(self, scorer: Scorer | None = None, depth: int = 20) -> None:
        if depth < 1:
            raise InputError(f"depth {depth} is below 1", where="stages.rerank.depth")
        self.scorer, self.depth = scorer or SharedWords(), depth

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return all candidates, the first `depth` of them reordered."""
        head = candidates.rows[: self.depth]
        scores = self.scorer.score(question.text, [embedded_text(corpus.observations[row]) for row in head.tolist()])
        order = np.argsort(-settled(scores), kind="stable")
        return Candidates(np.concatenate((head[order], candidates.rows[self.depth :])), candidates.scores)


class SharedWords:
    """Score by the question's terms and by its pairs of neighbouring terms that a text has too, rare ones counting more.

    score = Σ idf of the terms shared + Σ mean idf of the pairs shared, over the same sum for the question itself; the idf
    is that of the texts at hand, ln(1 + n / df). Pairs are neighbours once function words are left out.

    Args:
        analyzer: what makes terms of texts; English with stems when None.
    """

    def __init__(self, analyzer: Analysis | None = None) -> None:
        self.analyzer = analyzer or Analyzer()

    def score(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return one score in [0, 1] a text, shape (n,)."""
        asked = self.analyzer.terms(question)
        found = [self.analyzer.terms(text) for text in texts]
        frequency = Counter(term for terms in found for term in set(terms))
        weights: dict[str | tuple[str, str], float] = {term: math.log1p(len(texts) / max(1, frequency[term])) for term in asked}
        weights |= {(a, b): (weights[a] + weights[b]) / 2 for a, b in pairwise(asked)}
        total = sum(weights.values()) or 1.0
        shared = [{*terms, *pairwise(terms)} for terms in found]
        return np.array([sum(weight for part, weight in weights.items() if part in parts) / total for parts in shared])
