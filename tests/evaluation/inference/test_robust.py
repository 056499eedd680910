"""The robust test: its parts against what they should be, and how often it cries wolf where exchange alone does."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.evaluation.inference.clusters import Clusters
from recallmeter.evaluation.inference.robust import MANY, bootstrap_t, cautious_t, robust_test
from recallmeter.evaluation.inference.statistics import paired_randomisation


def differences(n: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.where(random.random(n) < 0.5, random.integers(-5, 6, n) / 10, 0.0)


def groups(n: int, size: int) -> Clusters:
    return Clusters.of([f"g{i // size}" for i in range(n)])


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_bootstrap_of_t_is_students_where_nothing_is_skewed(alternative):
    from scipy import stats

    values = np.random.default_rng(3).normal(-0.02, 0.2, 400)
    theirs = stats.ttest_1samp(values, 0, alternative=alternative).pvalue
    assert bootstrap_t(values[None], Clusters.alone(400), alternative)[0] == pytest.approx(theirs, abs=0.02)


def test_the_bootstrap_of_t_draws_groups():
    values = differences(60, 5).repeat(4)
    alone = bootstrap_t(values.reshape(60, 4)[:, :1].T, Clusters.alone(60), "less")
    assert bootstrap_t(values[None], groups(240, 4), "less") == pytest.approx(alone, abs=1e-12)


def test_one_more_query_against_the_direction_can_undo_what_few_show():
    from scipy import stats

    values = np.r_[np.full(10, -0.1), np.zeros(30)]
    padded = stats.ttest_1samp(np.r_[np.tile(values, 50), np.ones(60)], 0, alternative="less").statistic / 50**0.5
    assert cautious_t(values, Clusters.alone(40), "less") == pytest.approx(stats.t.cdf(padded, 39), abs=0.01)  # 1.2 of 40 are 60 of 2,000
    found = robust_test(values, alternative="less")
    assert found.plain[0] < 0.01
    assert found.p[0] > 0.2


def test_the_larger_of_two_counts_and_nothing_changed_is_1():
    rows = np.stack([differences(150, 1), differences(150, 2) - 0.05, np.zeros(150)])
    found = robust_test(rows)
    both = [paired_randomisation(rows), bootstrap_t(rows, Clusters.alone(150))]
    assert found.p[:2].tolist() == np.maximum(*both)[:2].tolist()
    assert found.p[2] == found.plain[2] == 1.0
    assert robust_test(np.zeros(150), shift=0.02, alternative="less").p[0] == 1.0


def test_a_shift_asks_for_a_loss_beyond_it():
    rows = differences(150, 4) - 0.05
    assert robust_test(rows, alternative="less", shift=0.05).p == pytest.approx(robust_test(rows + 0.05, alternative="less").p)
    assert robust_test(100 * rows, alternative="less", shift=2.0, reach=100.0).p == pytest.approx(
        robust_test(rows, alternative="less", shift=0.02).p
    )


@pytest.mark.parametrize(("n", "rare"), [(50, 0.05), (120, 0.05)])
def test_rare_gains_do_not_make_it_cry_wolf(n, rare):
    random = np.random.default_rng(n)
    drawn = random.choice([-0.1, 0.0, 1.0], (1500, n), p=[0.5, 0.5 - rare, rare])
    found = robust_test(drawn, alternative="less", resamples=1000)
    error = 2.6 * (0.05 * 0.95 / 1500) ** 0.5
    assert (found.p <= 0.05).mean() <= 0.05 + error
    assert (found.plain <= 0.05).mean() > 0.08  # exchange alone does


@pytest.mark.parametrize(("size", "correlation"), [(4, 0.3), (10, 0.6)])
def test_groups_do_not_make_it_cry_wolf(size, correlation):
    random = np.random.default_rng(size)
    own = random.choice([-0.5, 0.0, 0.0, 0.5], (800, 120))
    shared = random.choice([-0.5, 0.0, 0.0, 0.5], (800, 120 // size)).repeat(size, axis=1)
    drawn = np.where(random.random((800, 120)) < correlation**0.5, shared, own)
    error = 2.6 * (0.05 * 0.95 / 800) ** 0.5
    assert (robust_test(drawn, clusters=groups(120, size), alternative="less", resamples=1000).p <= 0.05).mean() <= 0.05 + error
    assert (robust_test(drawn, alternative="less", resamples=1000).p <= 0.05).mean() > 0.08  # by query it does


def test_few_units_are_reckoned_with_and_many_are_drawn():
    values = differences(MANY - 1, 7)
    assert robust_test(values).p[0] == max(paired_randomisation(values), cautious_t(values, Clusters.alone(MANY - 1)))
    values = differences(MANY, 7)
    assert robust_test(values).p[0] == max(paired_randomisation(values), bootstrap_t(values[None], Clusters.alone(MANY))[0])
