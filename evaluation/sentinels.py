"""Sentinels: what a retriever answered is held against its contract, and every breach has a name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from ..datasets.model import Query
from ..retrieval.ranking import Hit
from ..retrieval.rounding import reaches

TOO_MANY = "more than k"
UNKNOWN = "unknown id"
TWICE = "id twice"
NOT_FINITE = "score not finite"
OUT_OF_ORDER = "scores out of order"
OTHER_SCOPE = "other scope"
FUTURE = "later than asked"


@dataclass(frozen=True)
class Faults:
    """The breaches of one answer: name → how the first of its kind showed; false when there is none.

    Attributes:
        told: fault name → example, in the order in which a reader would meet them.
        kept: the hits without what broke the contract, best first, at most k.
    """

    told: Mapping[str, str]
    kept: tuple[Hit, ...]

    def __bool__(self) -> bool:
        return bool(self.told)

    def __str__(self) -> str:
        return "the retriever broke its contract: " + ", ".join(f"{name} ({example})" for name, example in self.told.items())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the breaches."""
        return tuple(self.told)

    def repaired(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Return `hits` as they are when nothing is wrong, and what is left of them otherwise."""
        return self.kept if self.told else hits


def inspect(hits: Sequence[Hit], query: Query, k: int, *, scopes: Mapping[str, str], times: Mapping[str, datetime]) -> Faults:
    """Hold one answer against the contract of `Retriever.search`.

    Args:
        hits: the answer as it came, best first.
        query: what was asked; its scope and `asked_at` bound what may come back.
        k: how many hits were asked for.
        scopes: observation id → scope, of the whole data set.
        times: observation id → timestamp, of the whole data set.

    Returns:
        The breaches by name. A repair drops each offending hit (of an id that comes twice, the later one), sorts by
        score where the order was wrong, and cuts at k.
    """
    told: dict[str, str] = {}
    kept: list[Hit] = []
    if len(hits) > k:
        told[TOO_MANY] = f"{len(hits)} for k = {k}"
    seen: set[str] = set()
    for rank, hit in enumerate(hits, start=1):
        breaches = dict(_breaches(hit, rank, query, seen, scopes, times))
        seen.add(hit.id)
        for name, example in breaches.items():
            told.setdefault(name, example)
        if not breaches:
            kept.append(hit)
    for before, after in pairwise(kept):
        if not reaches(before.score, after.score):
            told[OUT_OF_ORDER] = f"{after.id!r} at {after.score:g} comes after {before.id!r} at {before.score:g}"
            kept.sort(key=lambda hit: (-hit.score, hit.id))
            break
    return Faults(told, tuple(kept[:k]))


def _breaches(
    hit: Hit, rank: int, query: Query, seen: set[str], scopes: Mapping[str, str], times: Mapping[str, datetime]
) -> Iterator[tuple[str, str]]:
    if not math.isfinite(hit.score):
        yield NOT_FINITE, f"{hit.id!r} at {hit.score}"
    if hit.id in seen:
        yield TWICE, f"{hit.id!r} again at rank {rank}"
    if hit.id not in scopes:
        yield UNKNOWN, repr(hit.id)
        return
    if scopes[hit.id] != query.scope:
        yield OTHER_SCOPE, f"{hit.id!r} of {scopes[hit.id]!r}, asked in {query.scope!r}"
    if query.asked_at is not None and times[hit.id] > query.asked_at:
        yield FUTURE, f"{hit.id!r} of {times[hit.id].isoformat()}, asked at {query.asked_at.isoformat()}"
