"""Intervals of means: against scipy and statsmodels, and by how often they hold the mean that values were drawn around."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.inference.clusters import Clusters
from recallmeter.evaluation.inference.intervals import (
    DIFFERENCES,
    SHARES,
    bootstrap_interval,
    bootstrap_intervals,
    mean_interval,
    mean_intervals,
    padded_t,
    wilson,
)


def differences(n: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.where(random.random(n) < 0.5, random.integers(-5, 6, n) / 10, 0.0)


def coverage(drawn: np.ndarray, mean: float, bounds=SHARES, clusters=None) -> float:
    found = mean_intervals(drawn, bounds, clusters=clusters)
    return float(np.mean([low <= mean <= high for low, high, _ in found]))


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("n", [5, 40, 500])
def test_intervals_agree_with_scipys(n, method):
    from scipy.stats import bootstrap

    values = np.random.default_rng(n).beta(0.6, 0.4, n)
    theirs = bootstrap((values,), np.mean, method=method, n_resamples=40_000, rng=2).confidence_interval
    ours = bootstrap_interval(values, method=method, resamples=40_000, seed=3)
    error = 0.02 * (theirs.high - theirs.low)
    assert ours.low == pytest.approx(theirs.low, abs=error)
    assert ours.high == pytest.approx(theirs.high, abs=error)


def test_a_skewed_sample_moves_the_bca_interval_towards_its_tail():
    values = np.r_[np.zeros(27), 1, 1, 1]
    bca, percentile = (bootstrap_interval(values, method=method, seed=1) for method in ("bca", "percentile"))
    assert bca.low > percentile.low
    assert bca.high > percentile.high


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_queries_give_no_interval_and_say_why(n):
    interval = bootstrap_interval(np.full(n, 0.5))
    assert (interval.low, interval.high) == (None, None)
    assert f"n = {n}" in interval.why


def test_values_that_do_not_vary_leave_room_for_what_was_not_met():
    assert bootstrap_interval(np.full(3, 0.25))[:2] == (0.25, 0.25)
    low, high, _ = mean_interval(np.ones(3))
    assert (low, high) == (pytest.approx(0.438, abs=0.001), 1.0)
    low, high, _ = mean_interval(np.full(3, 0.25))
    assert 0 <= low < 0.25 < high <= 1
    low, high, _ = mean_interval(np.zeros(156), DIFFERENCES)
    assert -low == pytest.approx(high)
    assert 0.02 < high < 0.025


def test_rows_share_their_resamples_and_agree_with_each_alone():
    rows = np.stack([differences(60, seed) for seed in range(3)])
    for together, row in zip(bootstrap_intervals(rows, seed=5), rows, strict=True):
        alone = bootstrap_interval(row, seed=5)
        assert together[:2] == pytest.approx(alone[:2])
    assert bootstrap_interval(rows[0], seed=5) == bootstrap_interval(rows[0], seed=5) != bootstrap_interval(rows[0], seed=6)


@pytest.mark.parametrize(("hits", "n"), [(0, 20), (19, 20), (50, 50), (47, 120)])
def test_shares_of_hits_have_wilsons_interval(hits, n):
    proportion = pytest.importorskip("statsmodels.stats.proportion").proportion_confint
    low, high, _ = mean_interval(np.r_[np.ones(hits), np.zeros(n - hits)])
    assert (low, high) == pytest.approx(proportion(hits, n, method="wilson"), abs=1e-12)
    assert wilson(hits, n)[:2] == (low, high)


def test_few_or_sparse_values_have_students_interval_with_values_that_were_not_met_at_either_bound():
    from scipy import stats

    sparse = np.r_[-1.0, 0.5, np.zeros(298)]
    twice = stats.ttest_1samp(np.r_[sparse, sparse, np.full(3, -1.0), np.ones(3)], 0).confidence_interval(0.95)
    low, high, _ = mean_interval(sparse, DIFFERENCES)
    assert high - low == pytest.approx(2**0.5 * (twice.high - twice.low), rel=0.01)  # 1.5 of 300 are 3 of 600
    many = differences(300)
    assert mean_interval(many, DIFFERENCES) == bootstrap_interval(many)


def test_an_interval_over_groups_is_one_of_group_means_when_they_are_equal_and_many():
    from scipy import stats

    random = np.random.default_rng(1)
    means = random.normal(0, 0.2, 400)
    values = np.clip(means.repeat(5) + random.normal(0, 0.05, 2000), -1, 1)
    clusters = Clusters.of([f"g{i // 5}" for i in range(2000)])
    theirs = stats.ttest_1samp(values.reshape(400, 5).mean(axis=1), 0).confidence_interval(0.95)
    low, high, _ = mean_interval(values, DIFFERENCES, clusters=clusters)
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.002)
    alone = mean_interval(values, DIFFERENCES)
    assert high - low > 1.8 * (alone.high - alone.low)


@pytest.mark.parametrize("n", [20, 150])
@pytest.mark.parametrize("share", [0.01, 0.06])
def test_sparse_differences_are_held_as_often_as_said(n, share):
    random = np.random.default_rng(n)
    drawn = np.where(random.random((1500, n)) < share, random.choice([-1.0, 0.5], (1500, n)), 0.0)
    assert coverage(drawn, -0.25 * share, DIFFERENCES) >= 0.95 - 2.6 * (0.05 * 0.95 / 1500) ** 0.5


def test_hit_rates_near_1_and_graded_values_near_the_ceiling_are_held_as_often_as_said():
    random = np.random.default_rng(7)
    error = 2.6 * (0.05 * 0.95 / 1500) ** 0.5
    assert coverage((random.random((1500, 50)) < 0.95).astype(float), 0.95) >= 0.95 - error
    graded = np.where(random.random((1500, 150)) < 0.03, random.choice([0.0, 0.5], (1500, 150)), 1.0)
    assert coverage(graded, 0.97 + 0.03 * 0.25) >= 0.95 - error


def test_groups_that_hang_together_are_held_as_often_as_said():
    random = np.random.default_rng(8)
    own, shared = random.choice([-0.5, 0.0, 0.0, 0.5], (600, 120)), random.choice([-0.5, 0.0, 0.0, 0.5], (600, 12)).repeat(10, axis=1)
    drawn = np.where(random.random((600, 120)) < 0.6**0.5, shared, own)
    clusters = Clusters.of([f"g{i // 10}" for i in range(120)])
    error = 2.6 * (0.05 * 0.95 / 600) ** 0.5
    assert coverage(drawn, 0.0, DIFFERENCES, clusters) >= 0.95 - error
    assert coverage(drawn, 0.0, DIFFERENCES) < 0.75  # by query they are far too short


def test_one_group_has_no_interval_and_says_so():
    interval = mean_interval(np.linspace(0, 1, 30), clusters=Clusters.of(["one"] * 30))
    assert (interval.low, interval.high) == (None, None)
    assert "one group" in interval.why


def test_values_without_bounds_are_not_padded():
    from scipy import stats

    tokens = np.array([120.0, 80.0, 95.0, 300.0])
    theirs = stats.ttest_1samp(tokens, 0).confidence_interval(0.95)
    assert padded_t(tokens, None)[:2] == pytest.approx((theirs.low, theirs.high))
    assert mean_interval(tokens, None)[:2] == pytest.approx((theirs.low, theirs.high))


def test_a_value_that_is_no_number_and_a_confidence_out_of_range_are_refused():
    with pytest.raises(InputError, match="finite"):
        mean_interval([0.1, float("nan"), 0.2])
    with pytest.raises(InputError, match="confidence"):
        bootstrap_interval([0.1, 0.2, 0.3], confidence=1.5)
