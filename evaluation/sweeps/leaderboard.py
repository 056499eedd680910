"""The points of a sweep, ranked: replicates averaged, what cannot be told from the best marked, and which parameter mattered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..inference.clusters import Floats
from ..inference.statistics import holm, paired_randomisation
from .points import Point, newest, sort_key

REPLICATES = ("dataset.seed", "seed")
"""Parameters that are repeats of one configuration and not configurations of their own."""

ALPHA = 0.05
RESAMPLES = 2_000
TESTED_AT_ONCE = 200
"""Rows of one call of the paired test, whose memory grows with them."""


@dataclass(frozen=True)
class Row:
    """One configuration of one system, over its replicates.

    Attributes:
        parameters: varied parameter → value; None for one that is another system's alone.
        mean: over replicates of the mean over queries; `low` and `high` bound its 95 % interval.
        adjusted: p of being no worse than the first row, Holm-corrected over the table; 1 for the first row itself.
        front: whether no other row is at least as good in the measure, in tokens and in latency, and better in one; of latency
            two significant digits count, since the rest is noise that would put every row on the front.
        tokens, latency: mean tokens a query and median milliseconds a query, over the replicates.
    """

    system: str
    parameters: Mapping[str, Any]
    replicates: int
    mean: float
    low: float | None
    high: float | None
    adjusted: float
    tokens: float
    latency: float
    front: bool

    @property
    def even(self) -> bool:
        """Whether it cannot be told from the first row."""
        return self.adjusted >= ALPHA


@dataclass(frozen=True)
class Effect:
    """What one value of a parameter is worth on average over the others: its mean less the mean of all, with a 95 % interval."""

    parameter: str
    value: Any
    rows: int
    mean: float
    low: float
    high: float


class Leaderboard:
    """Ranks the complete points of a sweep by one measure.

    The interval of a row is a hierarchical bootstrap: replicates are drawn first, then queries within each, so that a winner on
    one synthetic data set is not mistaken for a winner. Source: Davison and Hinkley, Bootstrap Methods, 1997, section 3.8.

    Args:
        points: of one sweep or of several. Failed ones are counted in `failed` and left out; so are, in `replaced`, those that a
            later point of the same parameters replaces because code or data changed in between.
        measure: what is ranked; higher is better.
        system: only this one; None takes all.
        by: only these parameters tell rows apart, each the mean over all others; None takes every varied one.

    Raises:
        InputError: no complete point, none that has the measure or the system, or a parameter that no point has.
    """

    def __init__(
        self, points: Sequence[Point], measure: str, *, system: str | None = None, by: Sequence[str] | None = None, seed: int = 0
    ) -> None:
        current = newest(points)
        complete = [point for point in current if point.status == "complete"]
        self.failed, self.replaced = len(current) - len(complete), len(points) - len(current)
        self.measure, self.seed = measure, seed
        if not complete:
            raise InputError("no complete point", remedy="run the sweep again with --retry-failed")
        known = sorted({m for point in complete for m in point.measures})
        if measure not in known:
            raise InputError(f"no point has the measure {measure!r}", remedy=f"there are {', '.join(known)}")
        cells = [(p, s) for p in complete if measure in p.measures for s in p.systems if system in (None, s)]
        if not cells:
            raise InputError(
                f"no point has the system {system!r}", remedy=f"there are {', '.join(sorted({s for p in complete for s in p.systems}))}"
            )
        varied = _varied(complete)
        self.varied = _known(by, complete) if by else tuple(name for name in varied if name not in REPLICATES)
        self._groups = self._grouped(cells, [name for name in varied if name not in self.varied])

    def _grouped(self, cells: Sequence[tuple[Point, str]], averaged: Sequence[str]) -> list[_Group]:
        systems = {system for point, _ in cells for system in point.systems}
        groups: dict[tuple[Any, ...], dict[tuple[Any, ...], Point]] = defaultdict(dict)
        for point, system in cells:
            own = {name: value for name, value in point.parameters.items() if _concerns(name, system, systems)}
            replicate = (point.manifest["dataset"]["fingerprint"], *(repr(own.get(name)) for name in averaged))
            groups[system, tuple((name, own.get(name)) for name in self.varied)].setdefault(replicate, point)
        return [
            _Group(system, dict(shown), tuple(replicates), [*replicates.values()], self.measure)
            for (system, shown), found in groups.items()
            for replicates in [dict(sorted(found.items()))]
        ]

    @cached_property
    def rows(self) -> list[Row]:
        """The rows, best first, ties by system and parameters."""
        means, order = self._means, self._order
        bounds = np.quantile(self._resampled, (0.025, 0.975), axis=0)
        adjusted = self._against_first(order)
        costs = np.array([[-means[g], self._groups[g].tokens, float(f"{self._groups[g].latency:.1e}")] for g in order])
        front = pareto(costs)
        rows = []
        for position, g in enumerate(order):
            group = self._groups[g]
            low, high = bounds[:, g].tolist() if group.size >= 3 else (None, None)
            rows.append(
                Row(
                    group.system,
                    group.parameters,
                    len(group.points),
                    float(means[g]),
                    low,
                    high,
                    float(adjusted[position]),
                    group.tokens,
                    group.latency,
                    bool(front[position]),
                )
            )
        return rows

    def values(self, parameter: str) -> list[Any]:
        """Return the values of a varied parameter, sorted."""
        return sorted({group.parameters[parameter] for group in self._groups} - {None}, key=sort_key)

    @property
    def crossed(self) -> tuple[str, ...]:
        """The varied parameters of which a value stands in several rows, so that its effect is an average over others."""
        return tuple(name for name in self.varied if len(self.values(name)) < len(self._groups))

    @cached_property
    def effects(self) -> list[Effect]:
        """The main effect of every value of every varied parameter, in the order of parameters and values."""
        return list(self._effects())

    def _effects(self) -> Iterator[Effect]:
        everything = self._resampled.mean(axis=1)
        for parameter in self.varied:
            for value in self.values(parameter):
                chosen = [g for g, group in enumerate(self._groups) if group.parameters[parameter] == value]
                drawn = self._resampled[:, chosen].mean(axis=1) - everything
                low, high = np.quantile(drawn, (0.025, 0.975))
                yield Effect(parameter, value, len(chosen), float(self._means[chosen].mean() - self._means.mean()), float(low), float(high))

    @cached_property
    def _means(self) -> Floats:
        return np.array([group.mean for group in self._groups])

    @cached_property
    def _order(self) -> list[int]:
        groups = self._groups
        return sorted(
            range(len(groups)),
            key=lambda g: (-self._means[g], groups[g].system, [sort_key(value) for value in groups[g].parameters.values()]),
        )

    @cached_property
    def _resampled(self) -> Floats:
        """Means of every group under resampling, shape (resamples, groups); groups of one shape share the draws."""
        resampled = np.empty((RESAMPLES, len(self._groups)))
        by_shape: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for g, group in enumerate(self._groups):
            by_shape[group.shape].append(g)
        for shape, members in by_shape.items():
            random = np.random.default_rng(self.seed)
            drawn = random.multinomial(len(shape), np.full(len(shape), 1 / len(shape)), size=RESAMPLES)
            total = np.zeros((RESAMPLES, len(members)))
            for replicate, queries in enumerate(shape):
                # a replicate that is drawn twice has its queries drawn twice, each time afresh
                places = np.repeat(np.arange(RESAMPLES) * queries, drawn[:, replicate] * queries)
                places += random.integers(0, queries, len(places))
                weights = np.bincount(places, minlength=RESAMPLES * queries).reshape(RESAMPLES, queries) / queries
                total += weights @ np.stack([self._groups[g].values[replicate] for g in members], axis=1)
            resampled[:, members] = total / len(shape)
        return resampled

    def _against_first(self, order: Sequence[int]) -> NDArray[np.float64]:
        """Return Holm-corrected p of each row against the first, paired by replicate and query; 1 where they cannot be paired."""
        best = self._groups[order[0]]
        p = np.ones(len(order))
        paired = [position for position, g in enumerate(order) if position and self._groups[g].pairs == best.pairs]
        for start in range(0, len(paired), TESTED_AT_ONCE):
            some = paired[start : start + TESTED_AT_ONCE]
            differences = np.stack([(best.flat - self._groups[order[position]].flat).round(6) for position in some])
            p[some] = paired_randomisation(differences, seed=self.seed)
        p[paired] = holm(p[paired])
        return p


@dataclass(frozen=True)
class _Group:
    """The replicates of one configuration of one system."""

    system: str
    parameters: Mapping[str, Any]
    replicates: tuple[tuple[Any, ...], ...]
    points: Sequence[Point]
    measure: str

    @cached_property
    def values(self) -> list[Floats]:
        """Per-query values of each replicate."""
        return [p.values[p.systems.index(self.system), p.measures.index(self.measure)] for p in self.points]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.values)

    @cached_property
    def pairs(self) -> tuple[Any, ...]:
        """What must be the same for two groups to be paired: data sets, other parameters, and queries, in order."""
        return self.replicates, tuple(p.queries for p in self.points)

    @cached_property
    def flat(self) -> Floats:
        return np.concatenate(self.values)

    @property
    def size(self) -> int:
        return len(self.flat)

    @cached_property
    def mean(self) -> float:
        return float(np.mean([values.mean() for values in self.values]))

    @property
    def tokens(self) -> float:
        return float(np.mean([p.tokens[self.system] for p in self.points]))

    @property
    def latency(self) -> float:
        return float(np.mean([p.latency[self.system]["p50"] for p in self.points]))


def _varied(points: Sequence[Point]) -> tuple[str, ...]:
    """Return the parameters that differ between points, sorted."""
    names = sorted({name for point in points for name in point.parameters})
    return tuple(name for name in names if len({repr(point.parameters.get(name)) for point in points}) > 1)


def _known(names: Sequence[str], points: Sequence[Point]) -> tuple[str, ...]:
    known = sorted({name for point in points for name in point.parameters})
    for name in names:
        if name not in known:
            raise InputError(f"no point has the parameter {name!r}", remedy=f"there are {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def _concerns(parameter: str, system: str, systems: Container[str]) -> bool:
    """Return whether a parameter can move a system: one of another system's own can't."""
    group, _, rest = parameter.partition(".")
    owner = rest.partition(".")[0]
    return group != "systems" or owner == system or owner not in systems


def pareto(costs: Floats) -> NDArray[np.bool_]:
    """Return which rows of shape (rows, costs) no other row dominates; lower is better in every column."""
    order = np.lexsort(costs.T[::-1])
    front = np.zeros(len(costs), bool)
    kept: list[int] = []
    for row in order.tolist():  # in this order only a row already kept can dominate
        others = costs[kept]
        dominated = bool(len(kept)) and bool(((others <= costs[row]).all(axis=1) & (others < costs[row]).any(axis=1)).any())
        if not dominated:
            front[row] = True
            kept.append(row)
    return front
