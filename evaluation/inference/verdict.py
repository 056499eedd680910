"""The decision rule: PASS, REGRESSION or INCONCLUSIVE from paired differences, with a known chance of being wrong.

REGRESSION: a loss beyond what is accepted is shown; the null hypothesis is that the mean over all questions such as these falls by no
more than the margin. PASS: a loss beyond the margin is excluded, or nothing moved at all. INCONCLUSIVE: neither; whether a loss
of any size is shown is said beside it. Both kinds of showing are Holm-corrected over the tests of the gate, so that where there is no
such loss anything is shown with probability alpha at most; passing takes every rule, so no correction is due there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..measures.numbers import points, probability
from .clusters import Clusters, Floats
from .power import excluded_by_silence, minimum_detectable_effect, non_inferiority, queries_needed, worst_detectable
from .robust import robust_test
from .statistics import holm

FEW_CHANGED, FEW_GROUPS = 10, 30
"""Where fewer queries changed, or hang together in fewer groups, their spread says too little for an effect of their shape to be stated."""


class Verdict(StrEnum):
    """What one test, and a whole gate, says."""

    PASS = "PASS"
    REGRESSION = "REGRESSION"
    INCONCLUSIVE = "INCONCLUSIVE"


class PairedTest(NamedTuple):
    """Paired differences after − before of values in [0, 1], shape (queries,), the loss that is accepted, and the level of its alarm.

    `clusters` tells which queries hang together; None: each stands by itself.
    """

    differences: Floats
    margin: float
    alpha: float
    clusters: Clusters | None = None

    @property
    def units(self) -> Clusters:
        """The groups, of one query each if none were given."""
        return self.clusters or Clusters.alone(len(self.differences))

    @property
    def moved(self) -> int:
        """How many units have a query that changed."""
        return int(np.count_nonzero(self.units.sums(np.abs(self.differences))))


class Evidence(NamedTuple):
    """One-sided p of a loss beyond the margin and of any loss, each as it is judged by and by exchange alone.

    Where too few groups could ever show anything, `within` is p of any loss with every query by itself: it speaks of these groups alone.
    """

    beyond: float
    beyond_plain: float
    any: float
    within: float = 1.0


class Outcome(NamedTuple):
    """The verdict of one test, whether a loss of any size is shown, and the lowest mean that is still credible."""

    verdict: Verdict
    loss_shown: bool
    lowest: float | None


@dataclass(frozen=True)
class Decision:
    """What one test says, and why.

    Attributes:
        changed: how many queries differ.
        groups: how many units of chance there are; `design_effect` is how many times the mean's variance is what single queries had.
        mean: of the differences.
        lowest: the lowest mean still credible, one-sided at the test's alpha; None if there is no telling.
        p: of a loss beyond the margin; `adjusted` by Holm over the tests that can alarm, 1 for the others; `loss` of any loss, adjusted.
        loss_shown: whether any loss is shown.
        exploratory: whether exchange alone would have said REGRESSION, and what few queries may not have met forbids it.
        worst: the smallest loss that would be called a REGRESSION with the wanted power if few queries were lost altogether;
            `detectable` if it were as varied as the observed change; None if there is no telling.
        blind: whether so many units would not even show that something is lost where all that is accepted is.
        needed: how many queries of this spread would settle it; None where it is settled, or no number would.
    """

    verdict: Verdict
    changed: int
    groups: int
    design_effect: float
    mean: float
    lowest: float | None
    p: float
    adjusted: float
    loss: float
    loss_shown: bool
    exploratory: bool
    worst: float | None
    detectable: float | None
    blind: bool
    needed: int | None
    why: str


def decide(tests: Sequence[PairedTest], *, power: float = 0.8, seed: int = 0) -> list[Decision]:
    """Decide all tests of one gate."""
    return conclude(tests, weigh_all(tests, seed=seed), power=power)


def weigh_all(tests: Sequence[PairedTest], *, seed: int = 0) -> list[Evidence]:
    """Return the evidence of each test; those over the same queries and margin share their exchanges, which only saves time."""
    found: list[Evidence | None] = [None] * len(tests)
    alike: dict[tuple[bytes, float], list[int]] = {}
    for row, test in enumerate(tests):
        alike.setdefault((test.units.labels.tobytes(), test.margin), []).append(row)
    for rows in alike.values():
        first = tests[rows[0]]
        evidence = weigh(np.stack([tests[row].differences for row in rows]), first.margin, first.units, alpha=first.alpha, seed=seed)
        for row, one in zip(rows, evidence, strict=True):
            found[row] = one
    return [one for one in found if one is not None]


def weigh(
    differences: Floats, margin: float, clusters: Clusters, *, alpha: float = 0.05, resamples: int = 10_000, seed: int = 0
) -> list[Evidence]:
    """Return the evidence of each row of differences, shape (tests, queries)."""
    beyond = robust_test(differences, clusters=clusters, alternative="less", shift=margin, resamples=resamples, seed=seed)
    any_loss = robust_test(differences, clusters=clusters, alternative="less", resamples=resamples, seed=seed) if margin else beyond
    within = np.ones(len(differences))
    if 0.5**clusters.count > alpha and clusters.grouped:
        within = robust_test(differences, alternative="less", resamples=resamples, seed=seed).p
    return [Evidence(*map(float, row)) for row in zip(beyond.p, beyond.plain, any_loss.p, within, strict=True)]


def conclude(tests: Sequence[PairedTest], evidence: Sequence[Evidence], *, power: float = 0.8) -> list[Decision]:
    """Decide all tests of one gate from their evidence."""
    family = _family(tests)
    sizes = int(family.sum()) + ~family  # a test outside is told what it could show inside
    adjusted = corrected(tests, evidence)
    return [_decide(*row, power) for row in zip(tests, adjusted, (one.beyond for one in evidence), sizes.tolist(), strict=True)]


def corrected(tests: Sequence[PairedTest], evidence: Sequence[Evidence]) -> list[Evidence]:
    """Correct the evidence of all tests of one gate by Holm.

    The family is made of the tests that can alarm at all: p is never below 2^-c with c changed units, whatever the signs
    of the changes, so a test with too few of them cannot cry wolf and costs the others nothing (Tarone, Biometrics 1990).
    """
    able = _family(tests)
    columns = {name: np.array([getattr(one, name) for one in evidence]) for name in Evidence._fields}
    adjusted = {name: np.ones(len(tests)) for name in columns}
    for name, raw in columns.items():
        members = able if name != "within" else raw < 1
        adjusted[name][members] = holm(raw[members])
    return [Evidence(*(float(adjusted[name][row]) for name in Evidence._fields)) for row in range(len(tests))]


def _family(tests: Sequence[PairedTest]) -> NDArray[np.bool_]:
    return np.array([0.5**test.moved <= test.alpha for test in tests], dtype=bool)


def outcome(test: PairedTest, adjusted: Evidence) -> Outcome:
    """Return what a test says by its corrected evidence, without what it could have said."""
    shown, lowest = non_inferiority(test.differences, test.margin, test.alpha, clusters=test.units)
    settled = shown or not np.any(test.differences)
    verdict = Verdict.REGRESSION if adjusted.beyond <= test.alpha else Verdict.PASS if settled else Verdict.INCONCLUSIVE
    return Outcome(verdict, min(adjusted.any, adjusted.within) <= test.alpha, lowest)


def _decide(test: PairedTest, adjusted: Evidence, p: float, family: int, power: float) -> Decision:
    values, units, level = test.differences, test.units, test.alpha / family
    changed = int(np.count_nonzero(values))
    verdict, loss_shown, lowest = outcome(test, adjusted)
    worst = worst_detectable(units.effective, alpha=level, power=power, margin=test.margin)
    any_loss = worst_detectable(units.effective, alpha=level, power=power)
    decision = Decision(
        verdict=verdict,
        changed=changed,
        groups=units.count,
        design_effect=units.design_effect(values),
        mean=float(values.mean()),
        lowest=None if lowest is None else max(lowest, -1.0),
        p=p,
        adjusted=adjusted.beyond,
        loss=adjusted.any,
        loss_shown=loss_shown,
        exploratory=verdict is not Verdict.REGRESSION and adjusted.beyond_plain <= test.alpha,
        worst=worst,
        detectable=_stated(test, level, power),
        blind=any_loss is None or any_loss > test.margin,
        needed=None if verdict is not Verdict.INCONCLUSIVE else _needed(test, level, power),
        why="",
    )
    return _with_reason(decision, test, adjusted)


def _needed(test: PairedTest, level: float, power: float) -> int | None:
    """Return how many queries would settle it, at the least those that there are, which did not, and one unit more; None for no number."""
    units, n = test.units, len(test.differences)
    found = queries_needed(test.differences, test.margin, alpha=level, power=power, clusters=units)
    return None if found is None else max(found, n + -(-n // units.count))


def _stated(test: PairedTest, level: float, power: float) -> float | None:
    if np.count_nonzero(test.differences) < FEW_CHANGED or (test.units.grouped and test.units.count < FEW_GROUPS):
        return None
    found = minimum_detectable_effect(test.differences, alpha=level, power=power, margin=test.margin, clusters=test.units)
    return None if found is None or found > 1 else found


def _with_reason(decision: Decision, test: PairedTest, adjusted: Evidence) -> Decision:
    """Return the decision with its reason in words."""
    fell, accepted = points(-decision.mean), points(test.margin)
    if decision.verdict is Verdict.REGRESSION:
        beyond = f"a loss of more than {accepted} is shown" if test.margin else "a loss is shown"
        return replace(decision, why=f"fell by {fell}; {beyond}, p {written(adjusted.beyond)}")
    if not decision.changed:
        excluded = 100 * excluded_by_silence(decision.groups, test.alpha)
        verb = "excludes" if decision.groups == 1 else "exclude"
        return replace(decision, why=f"nothing moved; {_units(decision, test)} {verb} that more than {excluded:.1f} % of such are lost")
    loss = f"a loss of {fell} is shown, p {written(adjusted.any)}"
    if decision.verdict is Verdict.PASS:
        lowest = decision.lowest or 0.0
        excluded = f"a loss of more than {points(-lowest)} is excluded" if lowest < 0 else "any loss is excluded"
        return replace(decision, why=f"{excluded}; {loss}, within the {accepted} accepted" if decision.loss_shown else excluded)
    return replace(decision, why="; ".join(_open(decision, test, loss)))


def _open(decision: Decision, test: PairedTest, loss: str) -> Iterator[str]:
    """Yield what is known where the verdict is open."""
    few = 0.5**decision.groups > test.alpha
    if decision.loss_shown and few:
        fell = points(-decision.mean)
        these = f"these {decision.groups} groups; so few tell" if decision.groups > 1 else "this one group; it tells"
        yield f"a loss of {fell} is shown on the questions of {these} nothing of others"
    elif decision.loss_shown:
        yield f"{loss}, but it may lie on either side of the {points(test.margin)} accepted"
    else:
        yield "no loss is shown"
        if decision.lowest is not None:
            yield f"one of {points(-decision.lowest)} is still possible"
    if decision.exploratory:
        yield "exploratory: it would be a regression if so few queries could rule out that some like them gain much"
    if few and not decision.loss_shown:
        yield f"{_units(decision, test)} {'is' if decision.groups == 1 else 'are'} too few to show any loss"
    elif few:
        yield "more groups are needed, and not more queries of these"
    elif decision.needed is not None:
        yield f"about {decision.needed:,} queries of this spread would settle it"
    else:
        yield "more queries would hardly settle it: the change lies too near to what is accepted"


def _units(decision: Decision, test: PairedTest) -> str:
    one, many = ("group", "groups") if test.units.grouped else ("query", "queries")
    return f"{decision.groups} {one if decision.groups == 1 else many}"


def written(p: float) -> str:
    """Write a p-value as a sentence has it: ``= .012`` or ``< .001``; digits as in every table."""
    text = probability(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"
