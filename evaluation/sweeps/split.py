"""A part of the queries to choose a configuration on, and a part that it was not chosen on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...datasets.errors import InputError
from .points import Point


def split(points: Sequence[Point], share: float, *, seed: int = 0) -> tuple[list[Point], list[Point]]:
    """Return the points on about `share` of their queries, and the same points on the others.

    Groups of queries stay whole. Without groups each category is split by itself. Every point is split alike, whatever its order.

    Raises:
        InputError: a share that leaves one of the two sides without a query.
    """
    complete = [point for point in points if point.status == "complete"]
    strata = {query: stratum for point in complete for query, stratum in point.manifest.get("strata", {}).items()}
    asked = sorted({query for point in complete for query in point.queries})
    chosen = _chosen({query: tuple(strata.get(query, ("", ""))) for query in asked}, share, np.random.default_rng(seed))
    sides = [[_within(point, chosen, inside) for point in points] for inside in (True, False)]
    for point in (point for side in sides for point in side):
        if point.status == "complete" and not point.queries:
            raise InputError(f"a share of {share:g} leaves no query on one side", where="--select-on", remedy="choose it nearer to .5")
    return sides[0], sides[1]


def _chosen(strata: dict[str, tuple[str, ...]], share: float, random: np.random.Generator) -> set[str]:
    grouped = any(group for _, group in strata.values())
    units: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for query, (category, group) in strata.items():
        units["" if grouped else category][group or query].append(query)
    chosen: set[str] = set()
    carried = 0.0  # what rounding leaves of one category counts in the next
    for _, found in sorted(units.items()):
        names = sorted(found)
        wanted = share * len(names) + carried
        carried = wanted - round(wanted)
        for unit in random.permutation(len(names))[: round(wanted)]:
            chosen.update(found[names[unit]])
    return chosen


def _within(point: Point, chosen: set[str], inside: bool) -> Point:
    kept = [row for row, query in enumerate(point.queries) if (query in chosen) == inside]
    return replace(point, queries=tuple(point.queries[row] for row in kept), values=point.values[:, :, kept])
