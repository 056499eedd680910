"""Paired tests and corrections, against scipy and statsmodels and against values known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.inference.clusters import Clusters
from recallmeter.evaluation.inference.statistics import (
    benjamini_hochberg,
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


def test_groups_are_exchanged_as_one():
    values = differences(40, seed=3, changed=1.0)
    sums = values.reshape(10, 4).sum(axis=1)
    clusters = Clusters.of([f"g{i // 4}" for i in range(40)])
    assert paired_randomisation(values, clusters=clusters) == paired_randomisation(sums)
    assert paired_t(values, clusters=clusters) == pytest.approx(paired_t(sums))
    assert paired_randomisation(values, clusters=Clusters.alone(40)) == paired_randomisation(values)
