"""Tests that hold where exchange alone is too bold: skewed differences, whose rare gains a sample may not have met.

Exchange tests that a difference is as likely as its opposite; what a gate asks is whether its mean is 0. The two part where
frequent small losses are balanced by rare large gains, so p is the larger of the exchange's and of one that studentises the mean.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .clusters import Clusters, Floats
from .intervals import padded_mean
from .statistics import CELLS, Alternative, finite, paired_randomisation

MANY = 100
"""From so many units of chance on a bootstrap has met what is rare; below, one more unit is reckoned with that nobody has seen."""

UNSEEN = 1.2
"""How many unseen units are reckoned with: with nothing rare seen, the bound is then that of 0 in n, ln(1 / .05) = 3 units."""


class Robust(NamedTuple):
    """p-values of rows of differences; `plain` by exchange alone, shape (measures,).

    A row is exploratory where `plain` is small and `p` is not: it rests on rare changes in the other direction not having been met.
    """

    p: Floats
    plain: Floats


def robust_test(
    differences: ArrayLike,
    *,
    clusters: Clusters | None = None,
    alternative: Alternative = "two-sided",
    shift: float = 0.0,
    reach: float = 1.0,
    resamples: int = 10_000,
    seed: int = 0,
) -> Robust:
    """Test whether the mean of each row of `differences`, shape (measures, queries), is 0, or `-shift` if that is given.

    p is the larger of the paired randomisation's and, from `MANY` units on, the bootstrap-t's; below, of the t-test's over the
    queries and `UNSEEN` more with an opposite change of `reach`, the largest that can be. Rows in which nothing changed have p = 1.
    """
    rows = np.atleast_2d(finite(differences)) / reach
    clusters = clusters or Clusters.alone(rows.shape[1])
    moved, shifted = rows.any(axis=1), (rows + shift / reach).round(9)
    plain = paired_randomisation(shifted, clusters=clusters, alternative=alternative, permutations=resamples, seed=seed)
    p = plain.copy()
    if moved.any() and clusters.count >= MANY:
        p[moved] = np.maximum(p[moved], bootstrap_t(shifted[moved], clusters, alternative, resamples=resamples, seed=seed))
    elif moved.any():
        p[moved] = np.maximum(p[moved], [cautious_t(row, clusters, alternative) for row in shifted[moved]])
    return Robust(np.where(moved, p, 1.0), np.where(moved, plain, 1.0))


def bootstrap_t(
    rows: Floats, clusters: Clusters, alternative: Alternative = "two-sided", *, resamples: int = 10_000, seed: int = 0
) -> Floats:
    """Return p of a mean of 0 for each of `rows`, shape (measures, queries), by the bootstrap of its t; groups are drawn, not queries.

    Source: Efron and Tibshirani 1993, chapters 12.5 and 16.4; the mean of groups of unequal sizes is a ratio, its error linearised.
    """
    sums, sizes, units = clusters.sums(rows), clusters.sizes, clusters.count
    means = sums.sum(axis=1) / sizes.sum()
    observed = _t(means, ((sums - means[:, None] * sizes) ** 2).sum(axis=1), sizes.sum(), units, np.abs(rows).max(axis=1))
    below, above = np.zeros(len(rows)), np.zeros(len(rows))
    random, chunk = np.random.default_rng(seed), max(1, CELLS // units)
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        drawn = random.integers(0, units, (size, units)) + units * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units).astype(np.float64)
        total = (counts @ sizes)[:, None]
        resampled = counts @ sums.T / total
        squares = counts @ (sums**2).T - 2 * resampled * (counts @ (sums * sizes).T) + resampled**2 * (counts @ sizes**2)[:, None]
        t = _t(resampled - means, squares, total, units, np.abs(rows).max(axis=1))
        below += (t <= observed + 1e-9).sum(axis=0)
        above += (t >= observed - 1e-9).sum(axis=0)
    less, greater = (1 + below) / (1 + resamples), (1 + above) / (1 + resamples)
    return {"less": less, "greater": greater, "two-sided": np.minimum(1.0, 2 * np.minimum(less, greater))}[alternative]


def cautious_t(values: Floats, clusters: Clusters, alternative: Alternative = "two-sided") -> float:
    """Return p of a mean of 0 by Student's t over `values` and `UNSEEN` more that change by 1 against the tested direction."""
    from scipy.special import stdtr

    if clusters.count < 2:
        return 1.0
    ways = {"less": (-1,), "greater": (1,), "two-sided": (-1, 1)}[alternative]
    p = []
    for way in ways:
        mean, error = padded_mean(values, (-float(way),), clusters=clusters, weight=UNSEEN)
        t = -way * mean / error if error else math.copysign(math.inf, -way * mean)
        p.append(float(stdtr(clusters.count - 1, t)))
    return min(1.0, len(ways) * min(p))


def _t(deviations: Floats, squares: Floats, total: Floats | float, units: int, scale: Floats) -> Floats:
    """Return deviations over their standard errors; where nothing varies, plus or minus a number beyond all others."""
    error = np.sqrt(np.maximum(squares, 0.0) * units / (units - 1)) / total
    constant = error <= 1e-9 * scale
    return np.where(constant, 1e12 * np.sign(deviations.round(12)), deviations / np.where(constant, 1.0, error))
