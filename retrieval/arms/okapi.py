"""The plain BM25 arm: the rank-bm25 package as it is."""

from __future__ import annotations

import re
import unicodedata

import numpy as np

from ..corpus import Candidates, Corpus, Question
from ..text.rendering import indexed_text
from ..topk import top_k


class Okapi:
    """``rank_bm25.BM25Okapi`` with its own settings over lower-cased words: no stems, no synonyms, no prefixes.

    Its idf is 0 for a term in exactly half of the rows; what scores 0 or less is not returned.
    """

    needs_spaces = True

    def build(self, corpus: Corpus) -> _OkapiIndex:
        """Hand every row's words to the package."""
        return _OkapiIndex([_words(indexed_text(observation)) for observation in corpus.observations])


class _OkapiIndex:
    def __init__(self, rows_of_words: list[list[str]]) -> None:
        from rank_bm25 import BM25Okapi

        # The package divides by the number of rows and of distinct words.
        self.scorer = BM25Okapi(rows_of_words) if any(rows_of_words) else None

    def search(self, question: Question, limit: int) -> Candidates:
        if self.scorer is None:
            return Candidates.none()
        scores = np.asarray(self.scorer.get_scores(_words(question.text)), np.float64)
        return top_k(scores, limit, question.visible)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFC", text).lower())
