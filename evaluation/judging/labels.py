"""What judgments that nobody made could do to a difference: how much of each side was judged, and how few relevant holes would turn it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from ...datasets.model import Query
from ...retrieval.ranking import Hit
from ..inference.clusters import Floats
from ..measures.grammar import parse_measure
from ..measures.measure import Measure
from ..measures.metrics import score
from ..measures.numbers import amount, shifted
from .compare import DEPTH, DIGITS, Pairing, Results

MARGIN = 0.01
"""Shares of judged hits that differ by more than this are told: a system that finds what nobody judged is scored as if it were wrong."""

Standing = Callable[[Floats], bool]
"""Whether a verdict still stands with other differences after − before, shape (queries,)."""


class Holes(NamedTuple):
    """How a verdict depends on hits of the loser that were not judged, and that the winner does not have.

    Attributes:
        label: of the loser.
        unjudged: how many there are within the measure's depth.
        needed: how many of them, the most telling first, would have to be relevant to turn the verdict; None if all of them would not.
    """

    label: str
    unjudged: int
    needed: int | None


def judged_share(results: Results, queries: Mapping[str, Query], asked: Sequence[str]) -> float | None:
    """Return the mean share of the first hits that were judged, to the depth that reports look at.

    None where nothing was returned, or where nobody wrote down what does not answer a query, so that it can't be told.
    """
    if not any(queries[query].irrelevant for query in asked):
        return None
    values = _scores(results, {_named(query, 0): queries[query].judgments for query in asked}, parse_measure(f"judged@{DEPTH}"))
    found = [query for query in asked if results.rankings.get(query)]
    return float(np.mean([values[_named(query, 0)] for query in found])) if found else None


def judged_change(pairing: Pairing, queries: Mapping[str, Query]) -> str:
    """Say from what to what the share of judged hits changes; "" where it hardly does or can't be told."""
    asked = [query for query in pairing.queries if queries[query].answerable]
    before, after = (judged_share(side, queries, asked) for side in (pairing.before, pairing.after))
    if before is None or after is None or abs(after - before) <= MARGIN:
        return ""
    return f"{amount(before)} → {amount(after)} ({shifted(after - before)}); what nobody judged counts as not relevant"


def holes(
    pairing: Pairing, measure: str, asked: Sequence[str], queries: Mapping[str, Query], better: int, stands: Standing
) -> Holes | None:
    """Return how few unjudged hits of the worse side would have to be relevant for the verdict not to stand.

    Holes are filled one by one, always the one that takes most off the lead, in each query from the top. In a measure
    whose holes of one query work only together, fewer might do.

    Args:
        better: 1 where the second side is ahead, -1 where the first is.
        stands: is given (after − before) of `asked`, and tells whether the verdict is still the same.

    Returns:
        None where it can't be told: the recorded rankings do not give the recorded values, nothing is unjudged, or a measure of one's
        own leaves a query out once more of it is relevant.
    """
    scored = parse_measure(measure)
    if scored.asks_memory or scored.by_query or scored.lower_is_better:
        return None
    winner, loser = (pairing.after, pairing.before) if better > 0 else (pairing.before, pairing.after)
    lists = {query: _unjudged(winner, loser, queries[query], scored.depth) for query in asked}
    total = sum(map(len, lists.values()))
    if not total:
        return None
    qrels = {_named(query, n): _filled(queries[query], found[:n]) for query, found in lists.items() for n in range(len(found) + 1)}
    ahead, behind = (_scores(side, qrels, scored) for side in (winner, loser))
    leads = {query: [ahead[_named(query, n)] - behind[_named(query, n)] for n in range(len(found) + 1)] for query, found in lists.items()}
    recorded = better * pairing.differences(measure, asked)
    if not np.allclose([leads[query][0] for query in asked], recorded, atol=2 * 10**-DIGITS):
        return None
    if not all(np.isfinite(found).all() for found in leads.values()):
        return None
    order, rows = list(_filling(leads)), {query: row for row, query in enumerate(asked)}

    def turned(filled: int) -> bool:
        values, counts = recorded.copy(), dict.fromkeys(lists, 0)
        for query in order[:filled]:
            counts[query] += 1
            values[rows[query]] = leads[query][counts[query]]
        return not stands(better * values.round(DIGITS))

    return Holes(loser.label, total, _least(turned, len(order)))


def sensitivity(found: Holes, undone: str) -> str:
    """Say how few relevant holes would turn a verdict; `undone` says what would then be so."""
    if found.needed is None:
        return f"not even all {found.unjudged} unjudged hits of {found.label}, were they relevant, would be enough {undone}"
    return f"{found.needed} of the {found.unjudged} unjudged hits of {found.label} would have to be relevant {undone}"


def _unjudged(winner: Results, loser: Results, query: Query, depth: int | None) -> list[str]:
    judged = query.judgments
    others = set(winner.rankings.get(query.id, ())[:depth])
    return [found for found in loser.rankings.get(query.id, ())[:depth] if found not in judged and found not in others]


def _filled(query: Query, found: Sequence[str]) -> dict[str, int]:
    return {**query.judgments, **dict.fromkeys(found, 1)}


def _named(query: str, filled: int) -> str:
    return f"{filled} {query}"


def _scores(results: Results, qrels: Mapping[str, Mapping[str, int]], measure: Measure) -> dict[str, float]:
    """Return each query's value; `qrels` calls a query by how many of its holes are filled and its id."""
    lists = {name: results.rankings.get(name.partition(" ")[2], ()) for name in qrels}
    run = {name: [Hit(found, -float(rank)) for rank, found in enumerate(ids)] for name, ids in lists.items()}
    scores = score(qrels, run, [measure])
    (values,) = scores.values.values()
    return dict(zip(scores.query_ids, values.tolist(), strict=True))


def _filling(leads: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """Yield the query whose next hole takes most off the lead, as often as it has one."""
    heap = [(found[1] - found[0], query, 1) for query, found in sorted(leads.items()) if len(found) > 1]
    heapify(heap)
    while heap:
        _, query, filled = heappop(heap)
        yield query
        found = leads[query]
        if filled + 1 < len(found):
            heappush(heap, (found[filled + 1] - found[filled], query, filled + 1))


def _least(turned: Callable[[int], bool], most: int) -> int | None:
    """Return the least number that turns the verdict; filling the most telling holes first, more of them turn it as well."""
    high = 1
    while high < most and not turned(high):
        high *= 2
    high = min(high, most)
    if not turned(high):
        return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turned(middle) else (middle, high)
    return high
