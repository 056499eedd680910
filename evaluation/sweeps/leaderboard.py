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
from ..inference.intervals import mean_interval, padded_t
from ..inference.selection import winners_worth, worse_than_best
from ..inference.statistics import paired_t
from ..measures.grammar import direction
from .points import Point, newest, sort_key

REPLICATES = ("dataset.seed", "seed")
"""Parameters that are repeats of one configuration and not configurations of their own."""

ALPHA = 0.05
RESAMPLES = 2_000
DIGITS = 6
"""Values that differ in fewer decimals are equal, as in a comparison."""

MANY_SEEDS = 6
"""From so many seeds on a bootstrap of them is trusted; below, Student's t on their means."""


@dataclass(frozen=True)
class Row:
    """One configuration of one system, over its replicates.

    Attributes:
        parameters: varied parameter → value; None for one that is another system's alone.
        replicates: how many points; `distinct` counts copies of one another once.
        mean: over queries, each averaged over the replicates that ask it; `low` and `high` bound its 95 % interval.
        adjusted: p of being no worse than the first row, which was chosen, simultaneously over all pairs; 1 for the first row itself.
        front: whether no other row is at least as good in the measure, in tokens and in latency, and better in one; of latency
            two significant digits count, since the rest is noise that would put every row on the front.
        tokens, latency: mean tokens a query and median milliseconds a query, over the replicates; None where one was not timed.
    """

    system: str
    parameters: Mapping[str, Any]
    replicates: int
    distinct: int
    mean: float
    low: float | None
    high: float | None
    adjusted: float
    tokens: float
    latency: float | None
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

    Queries are the units: each is averaged over the replicates that ask it before anything is tested, so that copies of a run narrow
    no interval. Where seeds bring other data, seeds are units too: Student's t on their means counts where it is wider, and from
    `MANY_SEEDS` on that ask other queries a hierarchical bootstrap, which draws seeds, then queries within each. Source: Davison
    and Hinkley, Bootstrap Methods, 1997, section 3.8.

    Args:
        points: of one sweep or of several. Failed ones are counted in `failed` and left out; so are, in `replaced`, those that a
            later point of the same parameters replaces because code or data changed in between.
        measure: what is ranked, the better first.
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
        self.measure, self.seed, self._sign = measure, seed, direction(measure)
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
        cells = [(p, s) for p, s in cells if not np.isnan(p.values[p.systems.index(s), p.measures.index(measure)]).all()]
        if not cells:
            raise InputError(f"{measure} is about no query of any point", remedy="rank by another measure, or sweep over other data")
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
        front = pareto(np.array([weighed(self._sign * means[g], self._groups[g].tokens, self._groups[g].latency) for g in order]))
        rows = []
        for position, g in enumerate(order):
            group = self._groups[g]
            low, high = group.interval(bounds[:, g])
            rows.append(
                Row(
                    group.system,
                    group.parameters,
                    len(group.points),
                    group.distinct,
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
    def corrected(self) -> float | None:
        """What the first row is worth on queries that it was not chosen on; None where the rows do not share their queries."""
        best = self._groups[self._order[0]]
        others = [group.blocks[0] for group in self._groups if group.pairs == best.pairs]
        return winners_worth(np.stack(others), seed=self.seed) if len(best.blocks) == 1 and len(best.blocks[0]) > 1 else None

    @cached_property
    def _means(self) -> Floats:
        return np.array([group.mean for group in self._groups])

    @cached_property
    def _order(self) -> list[int]:
        groups = self._groups
        return sorted(
            range(len(groups)),
            key=lambda g: (-self._sign * self._means[g], groups[g].system, [sort_key(value) for value in groups[g].parameters.values()]),
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
                total += weights @ np.stack([self._groups[g].blocks[replicate] for g in members], axis=1)
            resampled[:, members] = total / len(shape)
        return resampled

    def _against_first(self, order: Sequence[int]) -> NDArray[np.float64]:
        """Return p of each row being no worse than the first; 1 where they cannot be paired by query."""
        best = self._groups[order[0]]
        p = np.ones(len(order))
        paired = [position for position, g in enumerate(order) if self._groups[g].pairs == best.pairs]
        members = [order[position] for position in paired]
        values = np.stack([np.concatenate(self._groups[g].blocks) for g in members]).round(DIGITS)
        p[paired] = worse_than_best(self._sign * values, seed=self.seed)
        for position in paired[1:]:  # where seeds differ, what they say apart from one another must agree
            p[position] = max(p[position], self._groups[order[position]].p_over_seeds(best, self._sign))
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
    def _values(self) -> list[Floats]:
        rows = [p.values[p.systems.index(self.system), p.measures.index(self.measure)] for p in self.points]
        return [row[~np.isnan(row)] for row in rows]

    @cached_property
    def distinct(self) -> int:
        """How many replicates are not copies of another."""
        return len({(point.queries, values.round(DIGITS).tobytes()) for point, values in zip(self.points, self._values, strict=True)})

    @cached_property
    def blocks(self) -> list[Floats]:
        """Values of each set of queries that some replicate asks, each averaged over the replicates that ask it."""
        found: dict[tuple[str, ...], list[Floats]] = defaultdict(list)
        for point, values in zip(self.points, self._values, strict=True):
            found[point.queries].append(values)
        return [np.mean(found[queries], axis=0) for queries in sorted(found)]

    @cached_property
    def seeds(self) -> dict[str, float]:
        """Data set → mean on it, in which replicates of one data set are averaged, and data sets that say the same are one."""
        found: dict[str, list[Floats]] = defaultdict(list)
        for point, values in zip(self.points, self._values, strict=True):
            found[point.manifest["dataset"]["fingerprint"]].append(values)
        means = {data: np.mean(values, axis=0) for data, values in sorted(found.items())}
        first = {(values.shape, values.round(DIGITS).tobytes()): data for data, values in reversed(means.items())}
        return {data: float(means[data].mean()) for data in sorted(first.values())}

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(block) for block in self.blocks)

    @cached_property
    def pairs(self) -> tuple[Any, ...]:
        """What must be the same for two groups to be paired: data sets, other parameters, and queries, in order."""
        return self.replicates, tuple(p.queries for p in self.points)

    def interval(self, drawn: Floats) -> tuple[float | None, float | None]:
        """Return the bounds of the mean: over queries, and over seeds where these bring other data, whichever is wider.

        `drawn` are the bounds of the hierarchical bootstrap.
        """
        over_seeds = padded_t(list(self.seeds.values()), None) if len(self.seeds) > 1 else None
        if len(self.blocks) > 1:
            if over_seeds is not None and len(self.blocks) < MANY_SEEDS:
                return over_seeds.low, over_seeds.high
            return float(drawn[0]), float(drawn[1])
        low, high, _ = mean_interval(self.blocks[0])
        if over_seeds is None or low is None or high is None:
            return low, high
        return min(low, over_seeds.low or 0.0), max(high, over_seeds.high or 0.0)

    def p_over_seeds(self, best: _Group, sign: int) -> float:
        """Return p of being no worse than another by Student's paired t on the means of seeds; 0 where no seeds differ."""
        shared = sorted(self.seeds.keys() & best.seeds.keys())
        if len(shared) < 2 or max(len(self.seeds), len(best.seeds)) < 2:
            return 0.0
        return paired_t([sign * (self.seeds[seed] - best.seeds[seed]) for seed in shared], alternative="less")

    @cached_property
    def mean(self) -> float:
        return float(np.mean([block.mean() for block in self.blocks]))

    @property
    def tokens(self) -> float:
        return float(np.mean([p.tokens[self.system] for p in self.points]))

    @property
    def latency(self) -> float | None:
        times = [p.latency[self.system]["p50"] for p in self.points]
        return None if None in times else float(np.mean(np.array(times, np.float64)))


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


def weighed(worth: float, tokens: float, latency: float | None) -> tuple[float, float, float]:
    """Return the costs that the front of a sweep weighs, lower being better in each.

    Args:
        worth: the mean of the measure, with the sign that makes a higher one better.
        tokens: mean tokens a query.
        latency: median milliseconds a query, weighed to two digits; None, which wasn't timed, weighs nothing.
    """
    return -worth, tokens, float(f"{latency or 0.0:.1e}")


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
