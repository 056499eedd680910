"""How far a mean may lie from the one that was seen: intervals that stay honest where values are few, sparse or near a bound."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...datasets.errors import InputError
from .clusters import Clusters, Floats
from .statistics import CELLS, finite

Method = Literal["bca", "percentile"]

SHARES, DIFFERENCES = (0.0, 1.0), (-1.0, 1.0)
"""Between which bounds the values of a measure lie, and differences of two."""

FEWEST = 3
"""The fewest values that an interval is computed from."""

FEW = 10
"""With fewer values than this that are not the commonest one, a bootstrap knows too little of what was not drawn."""

SMALL = 100
"""Below so many values a bootstrap of skewed ones covers clearly less than it says (docs/evidence.md)."""


UNMET = 1.5
"""How many values that were not met a bound reckons with; for total losses of c of n it is then never nearer than the exact one."""


class Interval(NamedTuple):
    """A confidence interval; without one, both ends are None and `why` says why."""

    low: float | None
    high: float | None
    why: str = ""


def mean_interval(
    values: ArrayLike,
    bounds: tuple[float, float] | None = SHARES,
    *,
    clusters: Clusters | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Return a confidence interval of the mean of `values`, shape (queries,), by the method that holds for such values.

    Values of 0 and 1 alone: Wilson's. Groups, fewer than `SMALL` values, or fewer than `FEW` that are not the commonest: t, with
    `UNMET` values more at either bound. Anything else: BCa bootstrap.

    Args:
        bounds: between which values can lie; None for values without bounds, such as tokens, which are never padded.

    Raises:
        InputError: a value that is not finite, or a confidence outside (0, 1).
    """
    return mean_intervals(np.atleast_2d(finite(values)), bounds, clusters=clusters, confidence=confidence, seed=seed)[0]


def mean_intervals(
    values: ArrayLike,
    bounds: tuple[float, float] | None = SHARES,
    *,
    clusters: Clusters | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[Interval]:
    """Return `mean_interval` of each row of `values`, shape (measures, queries)."""
    matrix = finite(values)
    if matrix.shape[1] < FEWEST:
        return [_too_few(matrix.shape[1])] * len(matrix)
    clusters = clusters or Clusters.alone(matrix.shape[1])
    found: dict[int, Interval] = {}
    for row, sample in enumerate(matrix):
        if bounds == SHARES and not clusters.grouped and np.isin(sample, SHARES).all():
            found[row] = wilson(int(sample.sum()), len(sample), confidence)
        elif clusters.grouped or len(sample) < SMALL or np.count_nonzero(sample != _commonest(sample)) < FEW:
            found[row] = padded_t(sample, bounds, clusters=clusters, confidence=confidence)
    left = [row for row in range(len(matrix)) if row not in found]
    if left:
        found.update(zip(left, bootstrap_intervals(matrix[left], confidence=confidence, seed=seed), strict=True))
    return [found[row] for row in range(len(matrix))]


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval of a share (Wilson 1927)."""
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    share, weight = successes / n, z**2 / n
    centre, half = share + weight / 2, z * (share * (1 - share) / n + weight / (4 * n)) ** 0.5
    low, high = (centre - half) / (1 + weight), (centre + half) / (1 + weight)
    return Interval(0.0 if successes == 0 else low, 1.0 if successes == n else high)


def padded_t(
    values: ArrayLike, bounds: tuple[float, float] | None, *, clusters: Clusters | None = None, confidence: float = 0.95
) -> Interval:
    """Return Student's interval of a mean over the values and `UNMET` more at each of `bounds`, which no sample can rule out.

    Where queries hang together, groups are the units, and the additional values weigh as much as a group's do.
    Source: the pseudo-observations of Agresti and Coull, 1998, for values that are not only 0 and 1.
    """
    from scipy.special import stdtrit

    sample = finite(values)
    clusters = clusters or Clusters.alone(len(sample))
    if clusters.count < 2:
        return Interval(None, None, "all queries are of one group: an interval needs at least 2 groups")
    mean, error = padded_mean(sample, bounds or (), clusters=clusters, weight=UNMET)
    half = float(stdtrit(clusters.count - 1, (1 + confidence) / 2)) * error
    low, high = bounds or (-np.inf, np.inf)
    return Interval(max(low, mean - half), min(high, mean + half))


def padded_mean(sample: Floats, additional: tuple[float, ...], *, clusters: Clusters, weight: float) -> tuple[float, float]:
    """Return mean and standard error over `sample` and `additional` values, each counted `weight` times the `unseen_size`."""
    n, units, effect = len(sample), clusters.count, unseen_size(sample, clusters)
    extra = np.array(additional, np.float64)
    total = n + weight * effect * len(extra)
    mean = (float(sample.sum()) + weight * effect * float(extra.sum())) / total
    deviations = float((clusters.sums(sample - mean) ** 2).sum()) * units / (units - 1)
    deviations += weight * effect**2 * float(((extra - mean) ** 2).sum())
    return mean, deviations**0.5 / total


def unseen_size(sample: Floats, clusters: Clusters) -> float:
    """Return for how many queries one that was not met stands: the design effect, where queries hang together.

    Where fewer than `FEW` groups show anything, that is not known, and whole groups are reckoned with.
    """
    if not clusters.grouped:
        return 1.0
    showing = np.count_nonzero(clusters.sums((sample != _commonest(sample)).astype(np.float64)))
    return float((clusters.sizes**2).sum()) / len(sample) if showing < FEW else clusters.design_effect(sample)


def _commonest(sample: Floats) -> float:
    values, counts = np.unique(sample, return_counts=True)
    return float(values[counts.argmax()])


def _too_few(n: int) -> Interval:
    return Interval(None, None, f"n = {n}: an interval needs at least {FEWEST} queries")


def bootstrap_interval(
    values: ArrayLike, *, confidence: float = 0.95, method: Method = "bca", resamples: int = 10_000, seed: int = 0
) -> Interval:
    """Return the bootstrap confidence interval of the mean of `values`, shape (queries,).

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 (percentile) and 14 (BCa).

    Raises:
        InputError: a value that is not finite, or a confidence outside (0, 1).
    """
    return bootstrap_intervals(np.atleast_2d(finite(values)), confidence=confidence, method=method, resamples=resamples, seed=seed)[0]


def bootstrap_intervals(
    values: ArrayLike, *, confidence: float = 0.95, method: Method = "bca", resamples: int = 10_000, seed: int = 0
) -> list[Interval]:
    """Return `bootstrap_interval` of each row of `values`, shape (measures, queries), over the same resamples of queries."""
    matrix = finite(values)
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence} is not between 0 and 1", where="confidence")
    if matrix.shape[1] < FEWEST:
        return [_too_few(matrix.shape[1])] * len(matrix)
    varied = [row for row in range(len(matrix)) if np.ptp(matrix[row]) > 0]
    intervals = [Interval(float(row[0]), float(row[0])) for row in matrix]
    if varied:
        tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
        for row, means in zip(varied, _resampled_means(matrix[varied], resamples, seed), strict=True):
            levels = _bca_levels(matrix[row], means, tails) if method == "bca" else tails
            low, high = np.quantile(means, levels)
            intervals[row] = Interval(float(low), float(high))
    return intervals


def _resampled_means(values: Floats, resamples: int, seed: int) -> Floats:
    """Return means of shape (measures, resamples); how often each query was drawn is counted once for all measures."""
    random, n = np.random.default_rng(seed), values.shape[1]
    means = np.empty((len(values), resamples))
    chunk = max(1, CELLS // n)
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        drawn = random.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        means[:, start : start + size] = values @ counts.T.astype(np.float64) / n
    return means


def _bca_levels(values: Floats, means: Floats, tails: Floats) -> Floats:
    """Move the two tail levels for bias and skewness; for a mean the jackknife acceleration is its skewness over 6 √n."""
    from scipy.special import ndtr, ndtri

    observed, deviations = values.mean(), values - values.mean()
    rounding = 1e-12 * np.abs(values).max()
    below = (np.count_nonzero(means < observed - rounding) + np.count_nonzero(means <= observed + rounding)) / 2 / len(means)
    bias = ndtri(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means)))
    acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
    shifted = bias + ndtri(tails)
    return ndtr(bias + shifted / (1 - acceleration * shifted))
