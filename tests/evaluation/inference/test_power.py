"""What can be shown, excluded and settled: against closed forms and against the test itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from recallmeter.evaluation.inference.clusters import Clusters
from recallmeter.evaluation.inference.power import (
    excluded_by_silence,
    minimum_detectable_effect,
    non_inferiority,
    queries_needed,
    worst_detectable,
)
from recallmeter.evaluation.inference.robust import robust_test
from scipy.stats import beta, binom


def differences(n: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.where(random.random(n) < 0.5, random.integers(-5, 6, n) / 10, 0.0)


def losses(lost: int, n: int) -> np.ndarray:
    return np.r_[np.full(lost, -1.0), np.zeros(n - lost)]


def test_what_can_be_detected_shrinks_with_n_and_grows_with_spread_and_margin():
    few, many = minimum_detectable_effect(differences(160)), minimum_detectable_effect(differences(2560))
    assert few / many == pytest.approx(4, rel=0.25)
    doubled = minimum_detectable_effect(2 * differences(640))
    assert doubled == pytest.approx(2 * minimum_detectable_effect(differences(640)), abs=0.002)
    assert minimum_detectable_effect(differences(640), margin=0.1) == pytest.approx(0.1 + minimum_detectable_effect(differences(640)))


def test_few_changed_queries_bound_what_exchange_can_show():
    share = minimum_detectable_effect(np.r_[-0.1, np.zeros(199)]) / 0.1
    # p <= 5 % takes five drops: 2^-5; so many of 200 queries must drop that five do with probability .8
    assert binom.sf(4, 200, share) == pytest.approx(0.8, abs=0.03)
    assert minimum_detectable_effect([0.1, -0.1, 0.2, 0.0]) is None  # four queries never reach 5 %
    assert minimum_detectable_effect(np.zeros(50)) is None


@pytest.mark.parametrize(("n", "margin"), [(20, 0.0), (50, 0.02), (156, 0.02), (300, 0.0)])
def test_the_worst_shape_is_what_the_test_itself_catches(n, margin):
    effect = worst_detectable(n, margin=margin)
    least = next(c for c in range(n) if robust_test(losses(c, n), alternative="less", shift=margin, resamples=40_000).p[0] <= 0.0467)
    assert effect == pytest.approx(beta.ppf(0.8, least, n - least + 1))
    assert binom.sf(least - 1, n, effect) == pytest.approx(0.8)


def test_the_worst_shape_is_not_told_of_too_few():
    assert worst_detectable(4) is None
    assert worst_detectable(2, alpha=0.5) is None


@pytest.mark.parametrize(("n", "excluded"), [(20, 13.9), (50, 5.8), (120, 2.5), (156, 1.9)])
def test_nothing_changed_excludes_what_the_binomial_says(n, excluded):
    assert 100 * excluded_by_silence(n) == pytest.approx(excluded, abs=0.05)
    assert binom.pmf(0, n, excluded_by_silence(n)) == pytest.approx(0.05)


def test_a_bound_reckons_with_losses_that_were_not_met():
    for lost in range(12):
        lowest = non_inferiority(losses(lost, 300), 0.02).lowest
        exact = -beta.ppf(0.95, lost + 1, 300 - lost)  # Clopper and Pearson's
        assert exact - 0.006 < lowest <= exact + 0.0005
    assert non_inferiority(losses(0, 300), 0.02).shown
    assert not non_inferiority(losses(0, 100), 0.02).shown
    assert non_inferiority([0.1, 0.2], margin=0.5) == (False, None)


def test_a_bound_in_another_unit_is_the_same_bound():
    values = differences(80, seed=3)
    assert non_inferiority(100 * values, 0.0, reach=100.0).lowest == pytest.approx(100 * non_inferiority(values, 0.0).lowest)


def test_groups_widen_the_bound_and_the_effect():
    values = differences(30, 4).repeat(10)
    clusters = Clusters.of([f"g{i // 10}" for i in range(300)])
    assert non_inferiority(values, 0.0, clusters=clusters).lowest < non_inferiority(values, 0.0).lowest
    assert minimum_detectable_effect(values, clusters=clusters) > 2 * minimum_detectable_effect(values)
    one = Clusters.of(["g"] * 300)
    assert non_inferiority(values, 0.5, clusters=one) == (False, None)
    assert minimum_detectable_effect(values, clusters=one) is None


def test_so_many_queries_as_are_needed_settle_it():
    values = np.r_[np.full(20, -0.4), np.full(20, 0.4), np.full(120, 0.0)]
    needed = queries_needed(values, 0.02)
    passes = []
    for seed in range(300):
        drawn = np.random.default_rng(seed).choice(values, needed)
        passes.append(non_inferiority(drawn, 0.02).shown)
    assert np.mean(passes) == pytest.approx(0.8, abs=3 * math.sqrt(0.16 / 300))
    assert queries_needed(values - 0.02, 0.02) is None
    assert queries_needed(values, 0.0) is None
