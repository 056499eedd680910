"""Supersession: what a later observation made untrue is not handed over."""

from __future__ import annotations

from ..corpus import Candidates, Corpus, Question


class HideSuperseded:
    """Drop each candidate whose successor was already known when the question was asked.

    Before its successor an observation was true: a question asked then still gets it.
    """

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return the candidates that still hold, in their order."""
        return candidates.take([i for i, row in enumerate(candidates.rows.tolist()) if not _replaced(row, question, corpus)])


def _replaced(row: int, question: Question, corpus: Corpus) -> bool:
    successor = corpus.rows.get(corpus.observations[row].superseded_by or "")
    return successor is not None and (question.visible is None or bool(question.visible[successor]))
