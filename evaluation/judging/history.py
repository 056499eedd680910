"""The history of a measure: its values in the order of the runs, and where it stepped from one level to another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...datasets.errors import InputError
from ..inference.clusters import Clusters, Floats
from ..inference.intervals import mean_interval
from ..record import Run
from .baseline import Baseline
from .compare import Difference, Results, compare, pair, results_of

RESOLUTION = 5e-4
"""Half of a tenth of a percentage point: what differs by less looks the same in every report, and is no step."""


@dataclass(frozen=True)
class Moment:
    """What was measured at one time: of a run or of a baseline that version control keeps.

    Attributes:
        when: ISO 8601, which orders moments.
        commit: "" where it is not known.
        run: None of a baseline.
    """

    label: str
    when: str
    commit: str
    systems: Mapping[str, Results]
    run: Run | None = None


class Value(NamedTuple):
    """A mean at one moment, the ends of its 95 % interval where there is one, and its n."""

    mean: float
    low: float | None
    high: float | None
    n: int


class Step(NamedTuple):
    """A change of level: the first moment after it, the level before and after, and the difference of the two runs beside it."""

    at: int
    before: float
    after: float
    difference: Difference | None


@dataclass(frozen=True)
class History:
    """One measure of one system over time.

    Attributes:
        moments: those that have it, oldest first.
        anchor: the position of the moment that the others are held against.
    """

    system: str
    measure: str
    moments: tuple[Moment, ...]
    values: tuple[Value, ...]
    steps: tuple[Step, ...]
    anchor: int


def moment_of(run: Run) -> Moment:
    """Read a run as a moment.

    Raises:
        InputError: no query of it has an answer.
    """
    git = run.manifest.get("git") or {}
    commit = (git.get("commit") or "") and f"{git['commit'][:10]}{'+' if git.get('dirty') else ''}"
    systems = {name: results_of(run, name) for name in run.systems}
    return Moment(run.path.resolve().name, run.manifest["started"], commit, systems, run)


def moment_of_baseline(baseline: Baseline, path: Path, when: str, commit: str) -> Moment:
    """Take a baseline, as it stood at a commit, for a moment."""
    return Moment(f"{path.name} at {commit[:10]}", when, commit[:10], baseline.systems)


def histories(
    moments: Iterable[Moment], measures: Sequence[str] = (), systems: Sequence[str] = (), *, anchor: str = "", seed: int = 0
) -> list[History]:
    """Return a history for each system and measure that at least two moments of one data set have.

    Args:
        measures: which; all headline ones of the newest moment when empty.
        systems: which; all when empty.
        anchor: the label of the moment to hold the others against; the oldest when empty.

    Raises:
        InputError: fewer than two moments, more than one data set, or nothing in common.
    """
    ordered = sorted(moments, key=lambda moment: moment.when)  # two of one second stay in the order in which they were given
    if len(ordered) < 2:
        raise InputError("a history needs at least two runs", remedy="name more run directories, or a folder of baselines in git")
    prints = {results.fingerprint for moment in ordered for results in moment.systems.values()}
    if len(prints) > 1:
        names = ", ".join(sorted(one[:12] for one in prints))
        raise InputError(f"the runs are of {len(prints)} data sets (fingerprints {names})", remedy="name runs of one data set")
    if anchor and anchor not in (moment.label for moment in ordered):
        raise InputError(f"there is no run {anchor!r}", where="--anchor", remedy=f"there are {', '.join(m.label for m in ordered)}")
    wanted = systems or list(dict.fromkeys(name for moment in ordered for name in moment.systems))
    found = [history for name in wanted for measure in measures if (history := _history(name, measure, ordered, anchor, seed))]
    if not found:
        raise InputError("no system has these measures in two of the runs", remedy=f"there are {', '.join(sorted(wanted))}")
    return found


def _history(system: str, measure: str, ordered: Sequence[Moment], anchor: str, seed: int) -> History | None:
    moments = [moment for moment in ordered if system in moment.systems and measure in moment.systems[system].values]
    if len(moments) < 2:
        return None
    rows = [moment.systems[system].values[measure] for moment in moments]
    values = []
    for moment, row in zip(moments, rows, strict=True):
        results = moment.systems[system]
        clusters = Clusters.of([results.groups.get(query, "") for query in results.queries])
        interval = mean_interval(row, clusters=clusters, seed=seed)
        values.append(Value(float(row.mean()), interval.low, interval.high, len(row)))
    bounds = [0, *change_points([value.mean for value in values]), len(values)]
    levels = [float(np.median([value.mean for value in values[a:b]])) for a, b in pairwise(bounds)]
    steps = [
        Step(at, before, after, _between(moments[at - 1].systems[system], moments[at].systems[system], measure))
        for at, (before, after) in zip(bounds[1:-1], pairwise(levels), strict=True)
    ]
    place = next((n for n, moment in enumerate(moments) if moment.label == anchor), 0)
    return History(system, measure, tuple(moments), tuple(values), tuple(steps), place)


def _between(before: Results, after: Results, measure: str) -> Difference | None:
    """Return the difference of two neighbours, paired by query; None where they have no query in common."""
    try:
        (comparison,) = compare([pair(before, after, allow_different=True)], [measure])
    except InputError:
        return None
    return comparison.overall[0]


def change_points(means: ArrayLike) -> list[int]:
    """Return where a series of means, shape (moments,), steps to another level: the positions of the first value after each step.

    The piecewise constant fit of least absolute error, found by dynamic programming for every number of levels; among these the one
    with the least n log(error) + 3 log(n) levels, as the Bayesian information criterion of a Laplace noise has it, a level costing its
    height, its place and the choice of it. An error below `RESOLUTION` a value counts as none. Idea of steps as a penalised L1 fit:
    asv's regression detection.
    """
    series = np.asarray(means, dtype=np.float64)
    n = len(series)
    if n < 2:
        return []
    cost = _absolute_errors(series)
    most = min(n, 1 + n // 2)
    best = np.full((most + 1, n + 1), math.inf)
    best[0, 0] = 0.0
    back = np.zeros((most + 1, n + 1), np.int64)
    for levels in range(1, most + 1):
        for end in range(levels, n + 1):
            totals = best[levels - 1, :end] + cost[:end, end]
            back[levels, end] = int(np.argmin(totals))
            best[levels, end] = totals[back[levels, end]]
    errors = np.maximum(best[1:, n] / n, RESOLUTION)
    scores = n * np.log(errors) + 3 * math.log(n) * np.arange(1, most + 1)
    levels, end, found = int(np.argmin(scores)) + 1, n, []
    while levels:
        end = int(back[levels, end])
        levels -= 1
        found.append(end)
    return sorted(at for at in found if at)


def _absolute_errors(series: Floats) -> Floats:
    """Return, for each begin and end, the summed distance of the values between them from their median, shape (n, n + 1)."""
    n = len(series)
    cost = np.zeros((n, n + 1))
    for begin in range(n):
        for end in range(begin + 1, n + 1):
            part = series[begin:end]
            cost[begin, end] = np.abs(part - np.median(part)).sum()
    return cost
