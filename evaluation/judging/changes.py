"""The queries behind a difference: where the relevant observations stood before and after, and what took their place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...datasets.model import Query
from ..measures.grammar import direction
from .compare import Pairing


class Move(NamedTuple):
    """One observation's rank before and after, from 1; None where it was not among those looked at."""

    id: str
    before: int | None
    after: int | None


@dataclass(frozen=True)
class QueryChange:
    """One query that two systems answered with different success.

    Attributes:
        values: measure → (before, after), of the measures that changed.
        relevant: the moves of what answers the query, by rank before; what neither system found is left out.
        intruders: what does not answer it and stands among the results only now, best first.
        depth: how many results of each were looked at; None for all that were recorded.
    """

    query: Query
    values: Mapping[str, tuple[float, float]]
    relevant: tuple[Move, ...]
    intruders: tuple[Move, ...]
    depth: int | None

    def drop(self, measure: str) -> float:
        """Return how much worse the measure became: how far it fell, or rose where lower is better."""
        before, after = self.values.get(measure, (0.0, 0.0))
        return direction(measure) * (before - after)


def changes(
    pairing: Pairing, measures: Sequence[str], queries: Mapping[str, Query], *, category: str = "", depth: int | None = None
) -> list[QueryChange]:
    """Return the queries on which any of `measures` changed, the largest drop of the first of them first.

    Args:
        queries: the data set's queries by id, for their text and what is relevant.
        category: look at this one alone; "" for all.
        depth: look at so many results of each system.
    """
    found = []
    for identifier in pairing.within(category):
        sides = {measure: pairing.values(measure, [identifier]) for measure in measures}
        values = {
            measure: (float(before[0]), float(after[0]))
            for measure, (before, after) in sides.items()
            if before[0] != after[0] and not math.isnan(before[0] + after[0])
        }
        if not values:
            continue
        before, after = (_ranks(side.rankings.get(identifier, ()), depth) for side in (pairing.before, pairing.after))
        query = queries[identifier]
        moves = [Move(seen, before.get(seen), after.get(seen)) for seen in {**after, **before}]
        relevant = [move for move in moves if move.id in query.relevant]
        intruders = [move for move in moves if move.id not in query.relevant and move.before is None]
        found.append(QueryChange(query, values, tuple(sorted(relevant, key=_place)), tuple(sorted(intruders, key=_place)), depth))
    return sorted(found, key=lambda change: ([-change.drop(measure) for measure in measures], change.query.id))


def _ranks(ids: Sequence[str], depth: int | None) -> dict[str, int]:
    return {identifier: rank for rank, identifier in enumerate(ids[:depth], start=1)}


def _place(move: Move) -> tuple[float, float, str]:
    before, after = (math.inf if rank is None else rank for rank in move[1:])
    return before, after, move.id
