"""Recall at equal budget: how much is found for how many tokens read."""

from __future__ import annotations

from itertools import accumulate

from ...retrieval.text.rendering import render
from ...retrieval.text.tokens import count
from ..record import Run


def recall_by_tokens(run: Run, system: str) -> tuple[list[float], list[float]]:
    """Return, for each depth from 1 to the longest answer, the mean tokens read and the mean recall, over the answerable queries.

    Tokens are those of the observations that were really returned, in the run's own counter.
    """
    counter, rankings = run.manifest["tokens_counter"], run.rankings[system]
    cost = {identifier: count(render(o), counter) for identifier, o in run.observations.items()}
    queries = [query for query in run.queries.values() if query.answerable]
    depth = max((len(rankings.get(query.id, ())) for query in queries), default=0)
    tokens, recalls = [0.0] * depth, [0.0] * depth
    for query in queries:
        ids = [hit.id for hit in rankings.get(query.id, ())]
        read = list(accumulate(cost[identifier] for identifier in ids))
        found = list(accumulate(identifier in query.relevant for identifier in ids))
        for position in range(depth):
            last = min(position, len(ids) - 1)
            if last >= 0:
                tokens[position] += read[last] / len(queries)
                recalls[position] += found[last] / len(query.relevant) / len(queries)
    return tokens, recalls
