"""What a number of queries can show: the smallest loss that would be caught, the largest that is still possible, and how many would do."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .clusters import Clusters, Floats
from .intervals import FEWEST, UNMET, padded_mean, unseen_size
from .robust import MANY, UNSEEN

PRICE = 0.02
"""What the larger of two p-values costs in power where both are near the level, by simulation (docs/evidence.md)."""

RESAMPLES = 10_000
"""How many resamples the tests draw, whose p wavers by as much."""


class NonInferiority(NamedTuple):
    """Whether the mean difference is shown to lie above -margin, and the lowest mean that is still credible (None: no telling)."""

    shown: bool
    lowest: float | None


def non_inferiority(
    differences: ArrayLike, margin: float, alpha: float = 0.05, *, clusters: Clusters | None = None, reach: float = 1.0
) -> NonInferiority:
    """Test the mean of paired `differences`, shape (queries,), against -margin at `alpha`.

    A one-sided t-test over the queries and `UNMET` more that fall by `reach`: where few queries changed, the spread of those few
    says too little of what was not seen, and the plain test passes real losses far too often.

    Args:
        clusters: which queries hang together; None for none.
        reach: the most that one query can lose.
    """
    values = np.asarray(differences, dtype=np.float64)
    clusters = clusters or Clusters.alone(len(values))
    if len(values) < FEWEST or clusters.count < 2:
        return NonInferiority(False, None)
    from scipy.special import stdtrit

    mean, error = padded_mean(values / reach, (-1.0,), clusters=clusters, weight=UNMET)
    lowest = reach * (mean - float(stdtrit(clusters.count - 1, 1 - alpha)) * error)
    return NonInferiority(lowest > -margin, lowest)


def excluded_by_silence(units: int, alpha: float = 0.05) -> float:
    """Return the largest share of queries that may be lost altogether where none of `units` changed: 1 - alpha^(1/units)."""
    return float(1 - alpha ** (1 / units))


def minimum_detectable_effect(
    differences: ArrayLike, *, alpha: float = 0.05, power: float = 0.8, margin: float = 0.0, clusters: Clusters | None = None
) -> float | None:
    """Return the smallest true change, as varied as the observed ones, that this many queries would show with probability `power`.

    Two things can stand in the way, and the larger counts. Variance: the mean must lie (t_alpha + t_power) standard errors beyond
    the margin, and below `MANY` units past the unseen changes that the test reckons with too. Resolution: under random exchange the
    smallest p is 2^-c with c changed units, so enough must change, each by as much as those that did.
    Source: Cohen 1988 for the first; the second follows from the test. None if there is no telling.

    Args:
        differences: observed paired differences, shape (queries,); their variance stands for that of the next run.
        alpha: level of the one-sided test; half of it for a two-sided one.
        power: the wanted chance of showing the change.
        margin: the loss that is accepted; only what goes beyond it is to be shown.
        clusters: which queries hang together; None for none.
    """
    values = np.asarray(differences, dtype=np.float64)
    clusters = clusters or Clusters.alone(len(values))
    if len(values) < FEWEST or clusters.count < FEWEST or not values.any():
        return None
    from scipy.special import bdtr, stdtrit

    degrees, error = clusters.count - 1, clusters.standard_error(values)
    needed = math.ceil(-math.log2(alpha))
    if needed > clusters.count:
        return None
    critical, wanted = float(stdtrit(degrees, 1 - alpha)), float(stdtrit(degrees, min(power + PRICE, 0.999)))
    size = unseen_size(values, clusters) / len(values) if clusters.count < MANY else 0.0
    changes = np.linspace(0, 1, 1001)  # beyond the margin; each with what the test adds to mean and error of such a run
    errors = np.hypot(error, UNSEEN**0.5 * size * (1 + changes))
    by_variance = margin + _least(changes, changes - UNSEEN * size >= critical * errors + wanted * error)
    changed = np.abs(clusters.sums(values))
    change = float(changed[changed > 0].mean()) * clusters.count / len(values) if changed.any() else 0.0
    enough = _least(changes, 1 - bdtr(needed - 1, clusters.count, changes) >= power)
    least = max(by_variance, margin + enough * change)
    return least if math.isfinite(least) else None


def _least(grid: Floats, enough: NDArray[np.bool_]) -> float:
    """Return where on a rising grid something begins to be enough; infinity if nowhere."""
    return float(grid[np.argmax(enough)]) if enough.any() else math.inf


@lru_cache(maxsize=4096)
def worst_detectable(units: int, *, alpha: float = 0.05, power: float = 0.8, margin: float = 0.0) -> float | None:
    """Return the smallest loss that is caught with probability `power` when it takes the hardest shape: few units lost altogether.

    A loss spread over many queries is caught sooner; this one depends on their number alone, and not on what a run happened to change.
    None where no loss could be shown.
    """
    from scipy.special import betaincinv

    least = _fewest_losses(units, alpha, margin)
    return None if least is None else float(betaincinv(least, units - least + 1, power))


def queries_needed(
    differences: ArrayLike, margin: float, *, alpha: float = 0.05, power: float = 0.8, clusters: Clusters | None = None
) -> int | None:
    """Return how many queries of the observed spread and mean would tell on which side of -margin the mean lies; None for no number.

    None where the mean lies on the margin itself, or so near that a hundred times as many would not do.
    """
    values = np.asarray(differences, dtype=np.float64)
    clusters = clusters or Clusters.alone(len(values))
    if len(values) < FEWEST or clusters.count < FEWEST:
        return None
    from scipy.special import ndtri

    effect = clusters.design_effect(values)
    spread = clusters.standard_error(values) * len(values) ** 0.5
    gap = abs(float(values.mean()) + margin)
    if gap == 0:
        return None
    quantiles = float(ndtri(1 - alpha) + ndtri(power)) * spread
    root = (quantiles + math.sqrt(quantiles**2 + 4 * gap * UNMET * effect)) / (2 * gap)  # of gap n = quantiles √n + UNMET effect
    needed = math.ceil(root**2)
    return needed if needed <= 100 * len(values) else None


def _fewest_losses(units: int, alpha: float, margin: float) -> int | None:
    """Return how many of `units` must be lost altogether for the test to say that more than `margin` is lost; None if never."""
    low, high = 1, units
    alpha -= 1.5 * math.sqrt(alpha * (1 - alpha) / RESAMPLES)  # a loss whose p lies on the level is missed half of the time
    if units < FEWEST or _p_of_losses(units, units, margin) > alpha:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _p_of_losses(middle, units, margin) <= alpha else (middle + 1, high)
    return low


def _p_of_losses(lost: int, units: int, margin: float) -> float:
    """Return, without any resampling, the p that `robust_test` estimates where `lost` of `units` fall by 1 and no other changes."""
    from scipy.special import bdtr, stdtr

    kept, fall, mean = units - lost, 1 - margin, margin - lost / units
    if mean >= 0:
        return 1.0
    falls = np.arange(lost + 1)  # of the lost, how many keep their sign under exchange; of the others, how many may
    room = units * mean + fall * (2 * falls - lost)
    others = np.full(lost + 1, float(kept)) if margin == 0 else np.floor((room / margin + kept) / 2 + 1e-9)
    reachable = (room >= -1e-9) if margin == 0 else (others >= 0)
    tails = np.where(reachable, bdtr(np.clip(others, 0, kept), kept, 0.5), 0.0)
    exchanged = float((_binomial(lost, 0.5) * tails).sum())
    share = lost / units
    if units >= MANY:
        if lost == units:
            return max(exchanged, 0.0)
        drawn = np.arange(units + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.sqrt(drawn / units * (1 - drawn / units) / (units - 1))
            t = np.where(errors > 0, (share - drawn / units) / errors, 1e12 * np.sign(share - drawn / units))
        observed = mean / math.sqrt(share * (1 - share) / (units - 1))
        return max(exchanged, float(_binomial(units, share)[t <= observed + 1e-9].sum()))
    values: Floats = np.r_[np.full(lost, -fall), np.full(kept, margin)]
    padded, error = padded_mean(values, (1.0,), clusters=Clusters.alone(units), weight=UNSEEN)
    return max(exchanged, float(stdtr(units - 1, padded / error)))


def _binomial(n: int, share: float) -> Floats:
    """Return the chances of 0, …, n successes."""
    from scipy.special import bdtr

    return np.diff(bdtr(np.arange(n + 1), n, share), prepend=0.0)
