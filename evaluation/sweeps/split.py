"""A part of the queries to choose a configuration on, and a part that it was not chosen on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from ...datasets.errors import InputError
from .points import Point


def check_share(share: float, where: str) -> None:
    """Raise `InputError` unless a share leaves something on either side."""
    if not 0 < share < 1:
        raise InputError(f"{share:g} is not a share", where=where, remedy="give a number between 0 and 1")


def split(points: Sequence[Point], share: float, *, seed: int = 0, where: str = "--select-on") -> tuple[list[Point], list[Point]]:
    """Return the points on about `share` of their queries, and the same points on the others.

    Groups of queries stay whole. Without groups each category is split by itself. Points that ask the same queries are split alike,
    whatever their order and whichever other points there are, so that points which come later change nothing.

    Args:
        where: who asked for it, as errors say.

    Raises:
        InputError: a share that leaves one of the two sides without a query.
    """
    chosen: dict[tuple[str, ...], set[str]] = {}
    sides: tuple[list[Point], list[Point]] = [], []
    for point in points:
        if point.status == "complete" and point.queries not in chosen:
            strata = point.manifest.get("strata", {})
            chosen[point.queries] = _chosen({query: tuple(strata.get(query, ("", ""))) for query in point.queries}, share, seed)
        for side, inside in zip(sides, (True, False), strict=True):
            part = _within(point, chosen[point.queries], inside) if point.status == "complete" else point
            if part.status == "complete" and not part.queries:
                raise InputError(f"a share of {share:g} leaves no query on one side", where=where, remedy="choose it nearer to .5")
            side.append(part)
    return sides


def _chosen(strata: dict[str, tuple[str, ...]], share: float, seed: int) -> set[str]:
    grouped = any(group for _, group in strata.values())
    units: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for query, (category, group) in strata.items():
        units["" if grouped else category][group or query].append(query)
    chosen: set[str] = set()
    carried = 0.0  # what rounding leaves of one category counts in the next
    for _, found in sorted(units.items()):
        names = sorted(found, key=lambda name: blake2b(f"{seed} {name}".encode("utf-8", "surrogatepass")).digest())
        wanted = share * len(names) + carried
        carried = wanted - round(wanted)
        for name in names[: round(wanted)]:
            chosen.update(found[name])
    return chosen


def _within(point: Point, chosen: set[str], inside: bool) -> Point:
    kept = [row for row, query in enumerate(point.queries) if (query in chosen) == inside]
    return replace(point, queries=tuple(point.queries[row] for row in kept), values=point.values[:, :, kept])
