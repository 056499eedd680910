"""Near-duplicate collapse: the same thing is handed over once."""

from __future__ import annotations

import re

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question
from ..rounding import reaches
from ..text.rendering import render

_WORD = re.compile(r"\w+")


class NearDuplicates:
    """Drop each candidate whose words overlap those of one kept before it by a Jaccard index of `overlap` or more.

    Args:
        overlap: from 0 (exclusive) to 1, which drops equal sets of words alone.

    Raises:
        InputError: an overlap outside (0, 1].
    """

    def __init__(self, overlap: float = 0.8) -> None:
        if not 0 < overlap <= 1:
            raise InputError(f"overlap {overlap} is not in (0, 1]", where="stages.duplicates.overlap")
        self.overlap = overlap

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return at most k candidates, no two of them near-duplicates, in their order."""
        kept: list[int] = []
        seen: list[set[str]] = []
        for position, row in enumerate(candidates.rows.tolist()):
            if len(kept) == k:
                break
            words = set(_WORD.findall(render(corpus.observations[row]).lower()))
            if not any(reaches(_jaccard(words, others), self.overlap) for others in seen):
                kept.append(position)
                seen.append(words)
        return candidates.take(kept)


def _jaccard(a: set[str], b: set[str]) -> float:
    common = len(a & b)
    union = len(a) + len(b) - common
    return common / union if union else 1.0
