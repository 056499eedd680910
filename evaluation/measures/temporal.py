"""Time-aware metrics: whether a memory presents what is no longer true, or what could not be known yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ...datasets.model import Observation, Query
from ...retrieval.ranking import Hit
from .canonical import canonical
from .grammar import Measure
from .metrics import score


@dataclass(frozen=True)
class TimeScores:
    """Per query, sorted by id; arrays of shape (queries,), nan where a query is not concerned.

    Attributes:
        k: the cut-off.
        stale: ``stale@k``: 1 where a superseded observation stands in the first k and its successor below it or not in them.
            Concerned are queries whose answer superseded something that is no answer itself.
        future_leaks: how many observations in the whole list are later than ``asked_at``. Concerned are queries that have one.
        as_of_recall: ``recall@k`` over those relevant observations that existed at ``asked_at``.
    """

    query_ids: tuple[str, ...]
    k: int
    stale: NDArray[np.float64]
    future_leaks: NDArray[np.float64]
    as_of_recall: NDArray[np.float64]


def time_scores(
    queries: Iterable[Query], observations: Mapping[str, Observation], rankings: Mapping[str, Sequence[Hit]], k: int = 10
) -> TimeScores:
    """Compute the time-aware metrics of one system.

    Args:
        observations: by id; at least what is relevant to a query, was returned, or was superseded by what is relevant.
        rankings: query → hits; a query that is missing found nothing.

    Raises:
        InputError: k is below 1, a score is not finite, or supersession runs in a circle.
    """
    ordered = sorted(queries, key=lambda query: query.id)
    predecessors = _predecessors(observations)
    stale, leaks = [], []
    for query in ordered:
        ids = [hit.id for hit in canonical(rankings.get(query.id, ()), query.id)]
        stale.append(_stale(query, ids[:k], observations, predecessors))
        leaks.append(
            float("nan") if query.asked_at is None else float(sum(not _known(observations.get(i), query) for i in ids)),
        )
    known = {query.id: {i: grade for i, grade in query.relevant.items() if _known(observations.get(i), query)} for query in ordered}
    measure = Measure("recall", k)
    as_of = score(known, rankings, [measure]).values[str(measure)]
    return TimeScores(tuple(query.id for query in ordered), k, np.array(stale), np.array(leaks), as_of)


def _stale(query: Query, top: Sequence[str], observations: Mapping[str, Observation], predecessors: Mapping[str, Sequence[str]]) -> float:
    place = {identifier: rank for rank, identifier in enumerate(top)}
    concerned = False
    for successor in query.relevant:
        if not _known(observations.get(successor), query):
            continue
        for old in _ancestors(successor, predecessors):
            if old in query.relevant:
                continue
            concerned = True
            if old in place and place[old] < place.get(successor, len(top)):
                return 1.0
    return 0.0 if concerned else float("nan")


def _known(observation: Observation | None, query: Query) -> bool:
    """Whether it existed when the question was asked; what is not in the data set is for the data check to report, not a leak."""
    return observation is None or query.asked_at is None or observation.timestamp <= query.asked_at


def _predecessors(observations: Mapping[str, Observation]) -> dict[str, list[str]]:
    predecessors: dict[str, list[str]] = {}
    for identifier in sorted(observations):
        successor = observations[identifier].superseded_by
        if successor is not None:
            predecessors.setdefault(successor, []).append(identifier)
    return predecessors


def _ancestors(successor: str, predecessors: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield everything that `successor` supersedes, step by step."""
    waiting, seen = [successor], {successor}
    while waiting:
        for old in predecessors.get(waiting.pop(), ()):
            if old in seen:
                raise InputError(f"{old!r} supersedes itself", where=f"observation {old}", remedy="break the circle of superseded_by")
            seen.add(old)
            waiting.append(old)
            yield old
