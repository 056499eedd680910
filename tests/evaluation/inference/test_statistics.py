"""Intervals, paired tests and corrections, against scipy and statsmodels and against values known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.inference.power import minimum_detectable_effect, non_inferiority
from recallmeter.evaluation.inference.statistics import (
    benjamini_hochberg,
    bootstrap_interval,
    bootstrap_intervals,
    effect_size,
    holm,
    paired_randomisation,
    paired_t,
    wilcoxon,
)

ALTERNATIVES = ("two-sided", "less", "greater")


def differences(n: int, seed: int = 0, changed: float = 0.5, shift: float = 0.0) -> np.ndarray:
    """Differences as recall gives them: many zeros, the others multiples of a tenth."""
    random = np.random.default_rng(seed)
    return np.where(random.random(n) < changed, random.integers(-5, 6, n) / 10 + shift, 0.0)


def scipy_randomisation(values: np.ndarray, alternative: str, n_resamples: float) -> float:
    from scipy.stats import permutation_test

    def mean(x, y, axis):
        return np.mean(x - y, axis=axis)

    samples = (values, np.zeros_like(values))
    return permutation_test(
        samples, mean, permutation_type="samples", alternative=alternative, vectorized=True, n_resamples=n_resamples, rng=1
    ).pvalue


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


def test_values_that_do_not_vary_give_an_interval_of_no_width():
    assert bootstrap_interval(np.zeros(20))[:2] == (0.0, 0.0)
    assert bootstrap_interval(np.full(3, 0.25))[:2] == (0.25, 0.25)


def test_rows_share_their_resamples_and_agree_with_each_alone():
    rows = np.stack([differences(60, seed) for seed in range(3)])
    for together, row in zip(bootstrap_intervals(rows, seed=5), rows, strict=True):
        alone = bootstrap_interval(row, seed=5)
        assert together[:2] == pytest.approx(alone[:2])
    assert bootstrap_interval(rows[0], seed=5) == bootstrap_interval(rows[0], seed=5) != bootstrap_interval(rows[0], seed=6)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [3, 10, 16])
def test_exact_randomisation_equals_scipys(n, alternative):
    values = differences(n, seed=n, changed=1.0, shift=0.03)
    assert float(paired_randomisation(values, alternative=alternative)) == pytest.approx(
        scipy_randomisation(values, alternative, np.inf), abs=1e-12
    )


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sampled_randomisation_agrees_with_scipys(alternative):
    values = differences(200, seed=4, shift=-0.04)
    ours = float(paired_randomisation(values, alternative=alternative, permutations=50_000, seed=9))
    theirs = scipy_randomisation(values, alternative, 50_000)
    assert ours == pytest.approx(theirs, abs=4 * (2 * theirs * (1 - theirs) / 50_000) ** 0.5 + 1e-4)


def test_the_observed_assignment_counts_so_that_p_is_never_0():
    assert float(paired_randomisation(np.full(60, 0.5), alternative="greater")) == 1 / 10_001


def test_unchanged_queries_say_nothing_under_exchange():
    values = differences(12, seed=1, changed=1.0, shift=0.02)
    padded = np.r_[values, np.zeros(300)]
    assert paired_randomisation(padded) == paired_randomisation(values)
    assert float(paired_randomisation(np.r_[-0.1, np.zeros(50)], alternative="less")) == 0.5


def test_a_table_is_tested_in_one_call():
    rows = np.stack([differences(100, 1), differences(100, 2), np.zeros(100), np.r_[differences(12, 3, 1.0), np.zeros(88)]])
    p = paired_randomisation(rows, seed=7)
    assert p.shape == (4,)
    assert p[2] == 1.0
    assert p[3] == paired_randomisation(rows[3])
    assert p.tolist() == paired_randomisation(rows, seed=7).tolist()


def test_identical_runs_differ_by_nothing():
    nothing = np.zeros(50)
    assert float(paired_randomisation(nothing)) == 1.0
    assert paired_t(nothing) == wilcoxon(nothing) == 1.0
    assert effect_size(nothing) == 0.0
    assert bootstrap_interval(nothing)[:2] == (0.0, 0.0)
    assert minimum_detectable_effect(nothing) is None


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_and_wilcoxon_are_scipys(alternative):
    from scipy import stats

    values = differences(40, seed=2, shift=0.05)
    assert paired_t(values, alternative=alternative) == pytest.approx(stats.ttest_1samp(values, 0, alternative=alternative).pvalue)
    assert wilcoxon(values, alternative=alternative) == stats.wilcoxon(values, alternative=alternative).pvalue


def test_a_constant_difference_is_certain_for_t_and_has_no_effect_size():
    assert paired_t(np.full(5, -0.25), alternative="less") == 0.0
    assert effect_size(np.full(5, -0.25)) is None
    assert effect_size([0.1, 0.3]) == pytest.approx(2**0.5)


@pytest.mark.parametrize(("ours", "method"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
@pytest.mark.parametrize("p", [[0.01], [0.04, 0.01, 0.03], [0.5, 0.001, 0.001, 0.9, 0.02, 0.04], []])
def test_corrections_equal_those_of_statsmodels(ours, method, p):
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    expected = multipletests(p, method=method)[1] if p else []
    assert ours(p).tolist() == pytest.approx(list(expected))


def test_a_p_value_out_of_range_and_a_difference_that_is_no_number_are_refused():
    with pytest.raises(InputError, match="p-value"):
        holm([0.2, 1.2])
    with pytest.raises(InputError, match="finite"):
        paired_randomisation([0.1, float("nan")])


def test_what_can_be_detected_shrinks_with_n_and_grows_with_spread_and_margin():
    few, many = minimum_detectable_effect(differences(40)), minimum_detectable_effect(differences(640))
    assert few is not None
    assert many is not None
    assert few / many == pytest.approx(4, rel=0.25)
    doubled = minimum_detectable_effect(2 * differences(640))
    assert doubled == pytest.approx(2 * many)
    with_margin = minimum_detectable_effect(differences(640), margin=0.1)
    assert 0.1 < with_margin < 0.1 + many


def test_few_changed_queries_bound_what_exchange_can_show():
    share = minimum_detectable_effect(np.r_[-0.1, np.zeros(19)]) / 0.1
    # p <= 5 % takes five drops: 2^-5; so many of 20 queries must drop that five do with probability .8
    five_drop = 1 - sum(math.comb(20, c) * share**c * (1 - share) ** (20 - c) for c in range(5))
    assert five_drop == pytest.approx(0.8, abs=0.002)
    assert minimum_detectable_effect([0.1, -0.1, 0.2, 0.0]) is None  # four queries never reach 5 %


def test_non_inferiority_reckons_with_one_more_query_that_falls_as_far_as_any_changed():
    from scipy import stats

    values = differences(50, seed=8)
    lowest = stats.ttest_1samp(np.r_[values, -0.5], 0).confidence_interval(0.9).low
    found = non_inferiority(values, margin=-lowest + 1e-9, alpha=0.05)
    assert np.abs(values).max() == 0.5
    assert found.lowest == pytest.approx(lowest)
    assert found.shown
    assert not non_inferiority(values, margin=-lowest - 1e-9, alpha=0.05).shown


def test_identical_runs_are_not_inferior_and_two_changed_queries_say_nothing():
    assert non_inferiority(np.zeros(1), margin=0.0).shown
    assert non_inferiority([0.1, 0.2], margin=0.5) == (False, None)
