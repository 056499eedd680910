"""Session diversity: no single session may fill the answer."""

from __future__ import annotations

from collections import Counter

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question


class SessionDiversity:
    """Take at most `per_session` of a session until k are taken; when too few were, fill up with the skipped, in their order.

    Filling up keeps the cap from costing recall where one session holds the only candidates.

    Args:
        per_session: how many of one session may come before any fill-up, ≥ 1.

    Raises:
        InputError: `per_session` below 1.
    """

    def __init__(self, per_session: int = 3) -> None:
        if per_session < 1:
            raise InputError(f"per_session {per_session} is below 1", where="stages.diversity.per_session")
        self.per_session = per_session

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return at most k candidates: those within the cap first, then the fill-up."""
        taken: list[int] = []
        skipped: list[int] = []
        seats: Counter[str] = Counter()
        for position, row in enumerate(candidates.rows.tolist()):
            if len(taken) == k:
                break
            session = corpus.observations[row].session_id
            if seats[session] < self.per_session:
                seats[session] += 1
                taken.append(position)
            else:
                skipped.append(position)
        return candidates.take((taken + skipped)[:k])
