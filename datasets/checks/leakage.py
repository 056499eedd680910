"""How far a ranking can get at best, and how far one gets by what it should not use."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ..model import Dataset, Observation, Query
from .twins import words

_LETTERS = re.compile(r"[^\W\d_]{3,}")


def ceiling(query: Query, observations: Mapping[str, Observation], k: int) -> float:
    """Return the R@k of the best possible ranking: what is relevant, there, of the query's scope and not later than it."""
    reachable = sum(_reachable(query, observations.get(identifier)) for identifier in query.relevant)
    return min(k, reachable) / len(query.relevant)


def _reachable(query: Query, o: Observation | None) -> bool:
    return o is not None and o.scope == query.scope and (query.asked_at is None or o.timestamp <= query.asked_at)


def concept_recall(dataset: Dataset, queries: Sequence[Query], k: int) -> list[float]:
    """Return the R@k of each query when observations are ranked by how many of its words their concepts hold, ties by id.

    Empty when no observation has concepts.
    """
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    for o in sorted(dataset.observations, key=lambda o: o.id):
        for word in {word for concept in o.concepts for word in words(concept.replace("_", " "))}:
            holders[o.scope, word].append(o.id)
    if not holders:
        return []
    recalls = []
    for query in queries:
        votes = Counter(identifier for word in set(words(query.text)) for identifier in holders.get((query.scope, word), ()))
        best = sorted(votes, key=lambda identifier: (-votes[identifier], identifier))[:k]
        recalls.append(sum(identifier in query.relevant for identifier in best) / len(query.relevant))
    return recalls


def telling_words(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield words in ids that nine in ten relevant observations have and at most one in ten of the others."""
    relevant = {identifier for query in dataset.queries for identifier in query.relevant}
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    totals = Counter(o.id in relevant for o in dataset.observations)
    for o in dataset.observations:
        counts[o.id in relevant].update(set(_LETTERS.findall(f"{o.id} {o.session_id}".lower())))
    if not totals[True] or not totals[False]:
        return
    for word, count in sorted(counts[True].items()):
        others = counts[False][word]
        if Fraction(count, totals[True]) >= Fraction(9, 10) and Fraction(others, totals[False]) <= Fraction(1, 10):
            yield word, f"{count} of {totals[True]} relevant ids and in {others} of {totals[False]} others"
