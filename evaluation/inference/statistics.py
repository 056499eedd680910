"""How sure a difference is: paired tests, and corrections for looking at many of them.

Everything here works on per-query values or on paired per-query differences, as float64 arrays of shape (queries,) or
(measures, queries). What is random is seeded. scipy.stats, slow to import, is left to the tests that only it has.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...datasets.errors import InputError
from .clusters import Clusters, Floats

Alternative = Literal["two-sided", "less", "greater"]
EXACT_UP_TO = 16
"""Up to this many non-zero differences every assignment of signs is counted instead of a sample of them."""

CELLS = 4_000_000  # per chunk of resamples: 32 MB of float64


def paired_randomisation(
    differences: ArrayLike,
    *,
    clusters: Clusters | None = None,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return the p-value of the mean paired difference under random exchange of the two systems, query by query or group by group.

    Each row of `differences` is one measure; all rows share the exchanges, so that one call serves a whole table. A query
    without a difference says nothing under exchange and is left out; with at most `EXACT_UP_TO` others every assignment is
    counted, else `permutations` random ones and the observed one: p = (1 + as extreme) / (1 + permutations).
    Source: Fisher 1935; for retrieval, Smucker, Allan and Carterette, CIKM 2007; the added one, Phipson and Smyth 2010.

    Args:
        differences: shape (queries,) or (measures, queries).
        clusters: the groups that are exchanged as one; None exchanges every query by itself.
        alternative: ``less`` tests for a mean below 0, ``greater`` for one above.

    Returns:
        p, of shape () or (measures,); 1 where nothing differs.

    Raises:
        InputError: a difference that is not finite.
    """
    given = finite(differences)
    matrix = np.atleast_2d(given)
    if clusters is not None and clusters.grouped:
        matrix = clusters.sums(matrix).round(9)
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


def paired_t(differences: ArrayLike, *, clusters: Clusters | None = None, alternative: Alternative = "two-sided") -> float:
    """Return the p-value of Student's paired t-test, over groups if there are any; 1 with fewer than two or when nothing differs."""
    values = finite(differences)
    units = clusters or Clusters.alone(len(values))
    mean = float(values.mean()) if len(values) else 0.0
    if units.count < 2 or mean == 0:
        return 1.0
    from scipy.special import stdtr

    error = units.standard_error(values)
    t = mean / error if error else np.copysign(np.inf, mean)
    below = float(stdtr(units.count - 1, t))
    return {"less": below, "greater": 1 - below, "two-sided": 2 * min(below, 1 - below)}[alternative]


def wilcoxon(differences: ArrayLike, *, alternative: Alternative = "two-sided") -> float:
    """Return the p-value of Wilcoxon's signed-rank test, zeros dropped; 1 when nothing differs."""
    values = finite(differences)
    if not values.any():
        return 1.0
    from scipy import stats

    return float(stats.wilcoxon(values, alternative=alternative).pvalue)  # pyright: ignore[reportAttributeAccessIssue]


def effect_size(differences: ArrayLike) -> float | None:
    """Return the mean difference in units of the differences' own standard deviation (Cohen's d_z, 1988); None if there is none."""
    values = finite(differences)
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


def finite(values: ArrayLike) -> Floats:
    """Return values as float64; `InputError` where one is not a finite number."""
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


def _all_signed_sums(values: Floats) -> Floats:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _random_signed_sums(values: Floats, permutations: int, seed: int):
    """Yield sums of shape (permutations of a chunk, measures)."""
    random, n = np.random.default_rng(seed), values.shape[1]
    chunk, totals = max(1, CELLS // n), values.sum(axis=1)
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
