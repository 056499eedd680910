"""The decision rule: PASS, REGRESSION or INCONCLUSIVE from paired differences, with a known chance of being wrong.

REGRESSION: the mean fell by more than the margin, and a one-sided paired randomisation test finds the fall significant,
Holm-corrected over the tests of the gate; so where there is no true difference it cries wolf with probability alpha at most.
PASS: no query got worse, or a drop beyond the margin is excluded at alpha; passing takes every rule, so no correction is due.
INCONCLUSIVE: anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from .power import minimum_detectable_effect, non_inferiority
from .statistics import Floats, holm, paired_randomisation


class Verdict(StrEnum):
    """What one test, and a whole gate, says."""

    PASS = "PASS"
    REGRESSION = "REGRESSION"
    INCONCLUSIVE = "INCONCLUSIVE"


class PairedTest(NamedTuple):
    """Paired differences after − before of values in [0, 1], shape (queries,), the drop that is accepted, and the level of its alarm."""

    differences: Floats
    margin: float
    alpha: float


@dataclass(frozen=True)
class Decision:
    """What one test says, and why.

    Attributes:
        changed: how many queries differ.
        mean: of the differences.
        lowest: the lowest mean still credible, one-sided at the test's alpha; None if there is no telling.
        p: of the one-sided test; `adjusted` by Holm over the tests that can alarm, 1 for the others.
        detectable: the smallest true drop that would be called a REGRESSION with the wanted power; None if there is no telling.
    """

    verdict: Verdict
    changed: int
    mean: float
    lowest: float | None
    p: float
    adjusted: float
    detectable: float | None
    why: str


def decide(tests: Sequence[PairedTest], *, power: float = 0.8, seed: int = 0) -> list[Decision]:
    """Decide all tests of one gate; tests over equally many queries share their exchanges, which saves time and changes nothing."""
    p, sizes = np.ones(len(tests)), np.array([len(test.differences) for test in tests])
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size).tolist()
        p[rows] = paired_randomisation(np.stack([tests[row].differences for row in rows]), alternative="less", seed=seed)
    return conclude(tests, p, power=power)


def conclude(tests: Sequence[PairedTest], p: Floats, *, power: float = 0.8) -> list[Decision]:
    """Decide all tests of one gate from their one-sided p-values, shape (tests,).

    The Holm family is made of the tests that can alarm at all: p is never below 2^-c with c changed queries, whatever the signs
    of the changes, so a test with too few of them cannot cry wolf and costs the others nothing (Tarone, Biometrics 1990).
    """
    adjusted = np.ones(len(tests))
    able = np.array([0.5 ** np.count_nonzero(test.differences) <= test.alpha for test in tests], dtype=bool)
    adjusted[able] = holm(p[able])
    family = int(able.sum()) + ~able  # a test outside is told what it could show inside
    return [
        _decide(test, float(raw), float(corrected), test.alpha / int(size), power)
        for test, raw, corrected, size in zip(tests, p, adjusted, family, strict=True)
    ]


def _decide(test: PairedTest, p: float, adjusted: float, level: float, power: float) -> Decision:
    changed, mean = int(np.count_nonzero(test.differences)), float(test.differences.mean())
    shown, lowest = non_inferiority(test.differences, test.margin, test.alpha)
    lowest = None if lowest is None else max(lowest, -1.0)
    detectable = minimum_detectable_effect(test.differences, alpha=level, power=power, margin=test.margin)
    detectable = None if detectable is None or detectable > 1 else detectable
    significant = adjusted <= test.alpha
    if significant and round(mean, 9) < -test.margin:
        verdict, why = Verdict.REGRESSION, f"fell by {_points(-mean)}, p = {adjusted:.4f} after Holm"
    elif not (test.differences < 0).any():
        verdict, why = Verdict.PASS, "no query got worse" if changed else "no query changed"
    elif shown:
        verdict, why = Verdict.PASS, f"a drop of more than {_points(max(0.0, -(lowest or 0.0)))} is excluded"
    else:
        verdict, why = Verdict.INCONCLUSIVE, _unsure(test, mean, lowest, detectable, significant, power)
    return Decision(verdict, changed, mean, lowest, p, adjusted, detectable, why)


def _unsure(test: PairedTest, mean: float, lowest: float | None, detectable: float | None, significant: bool, power: float) -> str:
    n = len(test.differences)
    if significant:
        return f"the fall of {_points(-mean)} is real, but may lie on either side of the {_points(test.margin)} accepted"
    possible = "" if lowest is None else f"a drop of {_points(-lowest)} is still possible; "
    if detectable is None:
        return f"{possible}{n} queries are too few to show any drop"
    return f"{possible}{n} queries show a drop of {_points(detectable)} or more {100 * power:.0f} times in 100"


def _points(share: float) -> str:
    return f"{100 * share:.1f} pp"
