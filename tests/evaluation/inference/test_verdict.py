"""The decision rule: an alarm needs a significant fall beyond the margin, a pass needs proof, and the rest is said to be open."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.evaluation.inference.statistics import holm, paired_randomisation
from recallmeter.evaluation.inference.verdict import PairedTest, Verdict, decide


def one(differences, margin=0.02, alpha=0.05):
    return decide([PairedTest(np.asarray(differences, float), margin, alpha)])[0]


def test_no_change_passes_however_few_the_queries():
    for n in (1, 2, 500):
        decision = one(np.zeros(n), margin=0.0)
        assert (decision.verdict, decision.mean, decision.p, decision.why) == (Verdict.PASS, 0.0, 1.0, "no query changed")


def test_a_clear_fall_is_a_regression_with_its_p():
    decision = one(np.r_[np.full(6, -0.5), np.zeros(14)])
    assert decision.verdict is Verdict.REGRESSION
    assert decision.p == 2**-6
    assert decision.why == "fell by 15.0 pp, p = 0.0156 after Holm"


def test_the_same_fall_is_no_alarm_within_a_wider_margin():
    decision = one(np.r_[np.full(6, -0.5), np.zeros(14)], margin=0.2)
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert decision.why == "the fall of 15.0 pp is real, but may lie on either side of the 20.0 pp accepted"


def test_four_falling_queries_can_never_be_significant_and_that_is_said():
    decision = one(np.r_[np.full(4, -0.5), np.zeros(16)])
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert decision.detectable > 0.1
    assert decision.why.endswith("or more 80 times in 100")


def test_a_drop_beyond_the_margin_can_be_excluded():
    values = np.zeros(500)
    values[:10], values[10:18] = 0.1, -0.1
    decision = one(values)
    assert decision.verdict is Verdict.PASS
    assert -0.02 < decision.lowest < 0
    assert decision.why == f"a drop of more than {-100 * decision.lowest:.1f} pp is excluded"


def test_a_run_in_which_no_query_got_worse_passes():
    decision = one([0.5, *np.zeros(19)], margin=0.0)
    assert (decision.verdict, decision.why) == (Verdict.PASS, "no query got worse")
    assert one([0.5, 0.5, -0.1, *np.zeros(17)], margin=0.0).verdict is Verdict.INCONCLUSIVE


def test_two_queries_tell_nothing_unless_they_are_equal():
    decision = one([-0.5, 0.0])
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert decision.why == "2 queries are too few to show any drop"


def test_all_tests_of_a_gate_are_one_holm_family_whatever_their_sizes():
    random = np.random.default_rng(3)
    arrays = [random.choice([-0.5, 0.0, 0.0, 0.25], n) for n in (40, 25, 40, 60)]
    decisions = decide([PairedTest(array, 0.02, 0.05) for array in arrays])
    alone = [float(paired_randomisation(array, alternative="less")) for array in arrays]
    assert [decision.p for decision in decisions] == alone
    assert [decision.adjusted for decision in decisions] == holm(alone).tolist()


def test_more_tests_make_each_less_sensitive():
    values = np.r_[np.full(5, -0.5), np.zeros(35)]
    assert one(values).verdict is Verdict.REGRESSION
    twice = decide([PairedTest(values, 0.02, 0.05), PairedTest(np.roll(values, 3) * 0.1, 0.02, 0.05)])
    assert twice[0].verdict is Verdict.INCONCLUSIVE
    assert twice[0].detectable > one(values).detectable


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_a_stricter_level_of_ones_own_counts(alpha):
    values = np.r_[np.full(8, -0.5), np.zeros(32)]
    assert (one(values, alpha=alpha).verdict is Verdict.REGRESSION) == (alpha == 0.05)


@pytest.mark.parametrize("n", [20, 120])
def test_without_a_true_difference_alarms_are_rare(n):
    random = np.random.default_rng(n)
    alarms = 0
    for _ in range(300):
        changed = np.where(random.random((2, n)) < 0.3, random.choice([-1, 1], n) * random.random((2, n)), 0.0)
        alarms += any(d.verdict is Verdict.REGRESSION for d in decide([PairedTest(row, 0.0, 0.05) for row in changed]))
    assert alarms / 300 <= 0.05 + 2.6 * (0.05 * 0.95 / 300) ** 0.5


def test_what_cannot_alarm_costs_the_others_nothing():
    falling, four = np.r_[np.full(5, -0.5), np.zeros(35)], np.r_[np.full(4, -0.5), np.zeros(36)]
    decisions = decide([PairedTest(values, 0.02, 0.05) for values in (falling, np.zeros(40), four)])
    assert [decision.verdict for decision in decisions] == [Verdict.REGRESSION, Verdict.PASS, Verdict.INCONCLUSIVE]
    assert [decision.adjusted for decision in decisions] == [2**-5, 1.0, 1.0]
    assert decisions[0].detectable == one(falling).detectable
    assert decisions[2].detectable > one(four).detectable


def test_a_fall_of_just_the_margin_is_within_it():
    assert one(np.r_[np.full(8, -0.1), np.zeros(32)], margin=0.02).verdict is Verdict.INCONCLUSIVE
    assert one(np.r_[np.full(8, -0.1), np.zeros(32)], margin=0.0199).verdict is Verdict.REGRESSION


def test_nothing_is_told_beyond_what_values_in_0_to_1_can_do():
    decision = one([-1.0, 1.0, -1.0])
    assert decision.lowest == -1.0
    assert decision.detectable is None
    assert decision.why == "a drop of 100.0 pp is still possible; 3 queries are too few to show any drop"
