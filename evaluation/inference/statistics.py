"""How sure a number is: bootstrap intervals, paired tests, and corrections for looking at many of them.

Everything here works on per-query values or on paired per-query differences, as float64 arrays of shape (queries,) or
(measures, queries). What is random is seeded. scipy.stats, slow to import, is left to the tests that only it has.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...datasets.errors import InputError

Floats = NDArray[np.float64]
Alternative = Literal["two-sided", "less", "greater"]
Method = Literal["bca", "percentile"]

FEWEST = 3
"""The fewest values that an interval is computed from."""

EXACT_UP_TO = 16
"""Up to this many non-zero differences every assignment of signs is counted instead of a sample of them."""

_CELLS = 4_000_000  # per chunk of resamples: 32 MB of float64


class Interval(NamedTuple):
    """A confidence interval; without one, both ends are None and `why` says why."""

    low: float | None
    high: float | None
    why: str = ""


def bootstrap_interval(
    values: ArrayLike, *, confidence: float = 0.95, method: Method = "bca", resamples: int = 10_000, seed: int = 0
) -> Interval:
    """Return the bootstrap confidence interval of the mean of `values`, shape (queries,).

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 (percentile) and 14 (BCa).

    Raises:
        InputError: a value that is not finite, or a confidence outside (0, 1).
    """
    return bootstrap_intervals(np.atleast_2d(_finite(values)), confidence=confidence, method=method, resamples=resamples, seed=seed)[0]


def bootstrap_intervals(
    values: ArrayLike, *, confidence: float = 0.95, method: Method = "bca", resamples: int = 10_000, seed: int = 0
) -> list[Interval]:
    """Return `bootstrap_interval` of each row of `values`, shape (measures, queries), over the same resamples of queries."""
    matrix = _finite(values)
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence} is not between 0 and 1", where="confidence")
    if matrix.shape[1] < FEWEST:
        return [Interval(None, None, f"n = {matrix.shape[1]}: an interval needs at least {FEWEST} queries")] * len(matrix)
    varied = [row for row in range(len(matrix)) if np.ptp(matrix[row]) > 0]
    intervals = [Interval(float(row[0]), float(row[0])) for row in matrix]
    if varied:
        tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
        for row, means in zip(varied, _resampled_means(matrix[varied], resamples, seed), strict=True):
            levels = _bca_levels(matrix[row], means, tails) if method == "bca" else tails
            low, high = np.quantile(means, levels)
            intervals[row] = Interval(float(low), float(high))
    return intervals


def paired_randomisation(
    differences: ArrayLike, *, alternative: Alternative = "two-sided", permutations: int = 10_000, seed: int = 0
) -> NDArray[np.float64]:
    """Return the p-value of the mean paired difference under random exchange of the two systems, query by query.

    Each row of `differences` is one measure; all rows share the exchanges, so that one call serves a whole table. A query
    without a difference says nothing under exchange and is left out; with at most `EXACT_UP_TO` others every assignment is
    counted, else `permutations` random ones and the observed one: p = (1 + as extreme) / (1 + permutations).
    Source: Fisher 1935; for retrieval, Smucker, Allan and Carterette, CIKM 2007; the added one, Phipson and Smyth 2010.

    Args:
        differences: shape (queries,) or (measures, queries).
        alternative: ``less`` tests for a mean below 0, ``greater`` for one above.

    Returns:
        p, of shape () or (measures,); 1 where nothing differs.

    Raises:
        InputError: a difference that is not finite.
    """
    given = _finite(differences)
    matrix = np.atleast_2d(given)
    p = np.ones(len(matrix))
    changed = (matrix != 0).sum(axis=1)
    for row in np.flatnonzero((changed > 0) & (changed <= EXACT_UP_TO)):
        sums = _all_signed_sums(matrix[row][matrix[row] != 0])
        p[row] = np.count_nonzero(_as_extreme(sums, matrix[row], alternative)) / len(sums)
    many = np.flatnonzero(changed > EXACT_UP_TO)
    if len(many):
        counts = np.zeros(len(many), np.int64)
        for sums in _random_signed_sums(matrix[many], permutations, seed):
            counts += [np.count_nonzero(_as_extreme(column, matrix[row], alternative)) for column, row in zip(sums.T, many, strict=True)]
        p[many] = (1 + counts) / (1 + permutations)
    return p.reshape(given.shape[:-1])


def paired_t(differences: ArrayLike, *, alternative: Alternative = "two-sided") -> float:
    """Return the p-value of Student's paired t-test; 1 with fewer than two queries or when nothing differs."""
    values = _finite(differences)
    mean = float(values.mean()) if len(values) else 0.0
    if len(values) < 2 or mean == 0:
        return 1.0
    from scipy.special import stdtr

    error = float(values.std(ddof=1)) / len(values) ** 0.5
    t = mean / error if error else np.copysign(np.inf, mean)
    below = float(stdtr(len(values) - 1, t))
    return {"less": below, "greater": 1 - below, "two-sided": 2 * min(below, 1 - below)}[alternative]


def wilcoxon(differences: ArrayLike, *, alternative: Alternative = "two-sided") -> float:
    """Return the p-value of Wilcoxon's signed-rank test, zeros dropped; 1 when nothing differs."""
    values = _finite(differences)
    if not values.any():
        return 1.0
    from scipy import stats

    return float(stats.wilcoxon(values, alternative=alternative).pvalue)  # pyright: ignore[reportAttributeAccessIssue]


def effect_size(differences: ArrayLike) -> float | None:
    """Return the mean difference in units of the differences' own standard deviation (Cohen's d_z, 1988); None if there is none."""
    values = _finite(differences)
    if len(values) < 2:
        return None
    spread = float(values.std(ddof=1))
    return float(values.mean()) / spread if spread else (None if values.any() else 0.0)


def holm(p: ArrayLike) -> Floats:
    """Return p-values adjusted so that the chance of any false alarm among them stays below alpha (Holm, 1979)."""
    values = _probabilities(p)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    return _in_place_of(order, np.minimum(stepped, 1.0))


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Return p-values adjusted so that the share of false alarms among alarms stays below alpha (Benjamini and Hochberg, 1995)."""
    values = _probabilities(p)
    order = np.argsort(-values, kind="stable")
    stepped = np.minimum.accumulate(values[order] * len(values) / np.arange(len(values), 0, -1))
    return _in_place_of(order, np.minimum(stepped, 1.0))


def _finite(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError("a per-query value is not a finite number", remedy="leave unanswerable queries out before testing")
    return array


def _probabilities(p: ArrayLike) -> Floats:
    values = np.asarray(p, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError("a p-value is not between 0 and 1")
    return values


def _in_place_of(order: NDArray[np.intp], values: Floats) -> Floats:
    result = np.empty_like(values)
    result[order] = values
    return result


def _resampled_means(values: Floats, resamples: int, seed: int) -> Floats:
    """Return means of shape (measures, resamples); how often each query was drawn is counted once for all measures."""
    random, n = np.random.default_rng(seed), values.shape[1]
    means = np.empty((len(values), resamples))
    chunk = max(1, _CELLS // n)
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


def _all_signed_sums(values: Floats) -> Floats:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _random_signed_sums(values: Floats, permutations: int, seed: int):
    """Yield sums of shape (permutations of a chunk, measures)."""
    random, n = np.random.default_rng(seed), values.shape[1]
    chunk, totals = max(1, _CELLS // n), values.sum(axis=1)
    for start in range(0, permutations, chunk):
        size = min(chunk, permutations - start)
        bits = np.unpackbits(np.frombuffer(random.bytes(-(-size * n // 8)), np.uint8), count=size * n)
        yield 2 * (bits.reshape(size, n).astype(np.float64) @ values.T) - totals


def _as_extreme(sums: Floats, differences: Floats, alternative: Alternative) -> NDArray[np.bool_]:
    """Compare sums with the observed one; equal but for rounding counts as equal."""
    observed, rounding = differences.sum(), 1e-12 * np.abs(differences).sum()
    if alternative == "less":
        return sums <= observed + rounding
    if alternative == "greater":
        return sums >= observed - rounding
    return np.abs(sums) >= abs(observed) - rounding
