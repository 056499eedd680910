"""The plain baseline: a scan of every text for the words of the question."""

from __future__ import annotations

import re
import unicodedata

import numpy as np

from ..corpus import Candidates, Corpus, Question
from ..text.rendering import scanned_text
from ..topk import top_k


class Grep:
    """Score = how many of the question's words longer than two characters occur in a text, as substrings, in any case."""

    needs_spaces = True

    def build(self, corpus: Corpus) -> _GrepIndex:
        """Keep the texts; there is no index."""
        return _GrepIndex([_folded(scanned_text(observation)) for observation in corpus.observations])


class _GrepIndex:
    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    def search(self, question: Question, limit: int) -> Candidates:
        scores = np.zeros(len(self.texts))
        for word in re.split(r"\W+", _folded(question.text)):
            if len(word) > 2:
                scores += np.fromiter((word in text for text in self.texts), bool, len(self.texts))
        return top_k(scores, limit, question.visible)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()
