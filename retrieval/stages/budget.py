"""Token budget: as many whole observations as an agent's context has room for."""

from __future__ import annotations

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question
from ..text.rendering import render
from ..text.tokens import count


class TokenBudget:
    """Take whole observations, best first, while they fit; one that does not fit is passed over for smaller ones after it.

    Args:
        tokens: the budget, ≥ 1.
        counter: how tokens are counted, see `recallmeter.retrieval.text.tokens`.

    Raises:
        InputError: a budget below 1, or an unknown counter.
    """

    def __init__(self, tokens: int = 2000, counter: str = "chars4") -> None:
        if tokens < 1:
            raise InputError(f"a budget of {tokens} tokens is below 1", where="stages.budget.tokens")
        count("", counter)
        self.tokens, self.counter = tokens, counter

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return at most k candidates whose texts fit into the budget together, in their order."""
        taken: list[int] = []
        left = self.tokens
        for position, row in enumerate(candidates.rows.tolist()):
            if len(taken) == k:
                break
            cost = count(render(corpus.observations[row]), self.counter)
            if cost <= left:
                taken.append(position)
                left -= cost
        return candidates.take(taken)
