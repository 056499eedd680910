"""What a number of queries can show: the smallest drop that would be caught, and the largest that is still possible."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .statistics import FEWEST


class NonInferiority(NamedTuple):
    """Whether the mean difference is shown to lie above -margin, and the lowest mean that is still credible (None: no telling)."""

    shown: bool
    lowest: float | None


def non_inferiority(differences: ArrayLike, margin: float, alpha: float = 0.05) -> NonInferiority:
    """Test the mean of paired `differences`, shape (queries,), against -margin at `alpha`.

    A one-sided t-test over the queries and one more that falls by the largest change seen: where few queries changed, the
    spread of those few says too little of what was not seen, and the plain test passes real drops far too often.
    Runs without any difference are not inferior, whatever the margin and however few the queries.
    """
    values = np.asarray(differences, dtype=np.float64)
    if not values.any():
        return NonInferiority(True, 0.0)
    if len(values) < FEWEST:
        return NonInferiority(False, None)
    from scipy.special import stdtrit

    cautious = np.append(values, -np.abs(values).max())
    lowest = float(cautious.mean()) - float(stdtrit(len(values), 1 - alpha)) * _standard_error(cautious)
    return NonInferiority(lowest > -margin, lowest)


def minimum_detectable_effect(differences: ArrayLike, *, alpha: float = 0.05, power: float = 0.8, margin: float = 0.0) -> float | None:
    """Return the smallest true mean change that this many queries would show with probability `power`; None if there is no telling.

    Two things can stand in the way, and the larger counts. Variance: the observed mean must pass the critical value of a
    one-sided test at `alpha` (and the margin), which takes (t_alpha + t_power) standard errors. Resolution: under random exchange
    the smallest p is 2^-c with c changed queries, so enough queries must change, each by as much as those that did.
    Source: Cohen 1988 for the first; the second follows from the test.

    Args:
        differences: observed paired differences, shape (queries,); their variance stands for that of the next run.
        alpha: level of the one-sided test; half of it for a two-sided one.
        power: the wanted chance of showing the change.
        margin: changes up to here do not count, whatever the test says.
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < FEWEST or not values.any():
        return None
    from scipy.special import bdtr, stdtrit

    degrees, error = len(values) - 1, _standard_error(values)
    change = float(np.abs(values[values != 0]).mean())
    beyond_margin = margin + change / (2 * len(values)) if margin else 0.0  # the mean moves in steps, and must be past it
    by_variance = max(beyond_margin, float(stdtrit(degrees, 1 - alpha)) * error) + float(stdtrit(degrees, power)) * error
    needed = math.ceil(-math.log2(alpha))
    if needed > len(values):
        return None
    shares = np.linspace(0, 1, 1001)
    enough = shares[np.argmax(1 - bdtr(needed - 1, len(values), shares) >= power)]
    return max(by_variance, float(enough) * change)


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))
