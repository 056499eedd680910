"""bm25s, BM25 with precomputed scores in numpy, as a memory."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..adapter import ASKING, Adapter, Found
from ..catalogue import Partition
from ..extras import require


class Bm25s(Adapter):
    """An index a scope, with the library's English stop words and PyStemmer's English stemmer.

    The library fills up to k with documents of score 0, which share no word with the query; they are left out here, and
    the trace says how many.

    Args:
        k1: saturation of term frequency.
        b: weight of document length, 0 to 1.
        method: which BM25, as the library names it.

    Raises:
        InputError: bm25s or PyStemmer is not installed.
    """

    packages = ("bm25s", "PyStemmer")
    needs_spaces = True

    def __init__(self, k1: float = 1.5, b: float = 0.75, method: str = "lucene") -> None:
        self.k1, self.b, self.method = k1, b, method
        require("bm25s", "bm25s")
        self._stemmer = require("Stemmer", "bm25s").Stemmer("english")

    def tokens(self, texts: list[str]) -> list[list[str]]:
        """Cut texts into stems as the library does."""
        tokenize = require("bm25s", "bm25s").tokenize
        return tokenize(texts, stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False)

    def build(self, partition: Partition) -> _Index:
        """Score every word of every document of one scope."""
        stems = self.tokens([d.text for d in partition.documents])
        if not any(stems):
            return _Index(self, partition, None)
        index = require("bm25s", "bm25s").BM25(k1=self.k1, b=self.b, method=self.method)
        index.index(stems, show_progress=False)
        return _Index(self, partition, index)


class _Index:
    def __init__(self, system: Bm25s, partition: Partition, index: Any) -> None:
        self.system, self.index = system, index
        self.ids = [d.id for d in partition.documents]
        self.moments: NDArray[np.float64] = np.array([d.timestamp.timestamp() for d in partition.documents])

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        stems = self.system.tokens([query])
        if self.index is None or not stems[0]:
            return []
        mask = None if asked_at is None else (self.moments <= asked_at.timestamp()).astype(np.float32)
        rows, scores = self.index.retrieve(stems, k=min(k, len(self.ids)), weight_mask=mask, show_progress=False)
        found = [(self.ids[row], float(score)) for row, score in zip(rows[0], scores[0], strict=True) if score > 0]
        if len(found) < len(scores[0]):
            ASKING.get().notes.append(f"{len(scores[0]) - len(found)} documents of score 0 left out")
        return found
