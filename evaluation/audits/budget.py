"""Recall at equal budget: how much is found for how many tokens read."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ...retrieval.text.rendering import render
from ...retrieval.text.tokens import count
from ..inference.clusters import Clusters
from ..inference.intervals import mean_intervals
from ..record import Run


class Budget(NamedTuple):
    """For each depth from 1 to the longest answer: mean tokens read, mean recall, and the ends of its 95 % interval, if there is one."""

    tokens: list[float]
    recall: list[float]
    low: list[float]
    high: list[float]


def recall_by_tokens(run: Run, system: str) -> Budget:
    """Return what the answers of a system find at each depth, over the answerable queries.

    Tokens are those of the observations that were really returned, in the run's own counter.
    """
    counter, rankings = run.manifest["tokens_counter"], run.rankings[system]
    cost = {identifier: count(render(o), counter) for identifier, o in run.observations.items()}
    queries = [query for query in run.queries.values() if query.answerable]
    depth = max((len(rankings.get(query.id, ())) for query in queries), default=0)
    tokens, recalls = np.zeros((depth, len(queries))), np.zeros((depth, len(queries)))
    for column, query in enumerate(queries):
        ids = [hit.id for hit in rankings.get(query.id, ())]
        if not ids:
            continue
        last = np.minimum(np.arange(depth), len(ids) - 1)
        tokens[:, column] = np.fromiter(accumulate(cost[identifier] for identifier in ids), np.float64)[last]
        recalls[:, column] = np.fromiter(accumulate(identifier in query.relevant for identifier in ids), np.float64)[last]
        recalls[:, column] /= len(query.relevant)
    if not depth:
        return Budget([], [], [], [])
    clusters = Clusters.of([query.group for query in queries])
    ends = mean_intervals(recalls, clusters=clusters, seed=run.manifest["seed"])
    known = all(end.low is not None for end in ends)
    low, high = ([float(end[side] or 0.0) for end in ends] if known else [] for side in (0, 1))
    return Budget(tokens.mean(axis=1).tolist(), recalls.mean(axis=1).tolist(), low, high)
