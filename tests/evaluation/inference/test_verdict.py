"""The decision rule: an alarm shows more than is accepted, a pass excludes it, and the rest is said to be open."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.evaluation.inference.clusters import Clusters
from recallmeter.evaluation.inference.power import worst_detectable
from recallmeter.evaluation.inference.robust import robust_test
from recallmeter.evaluation.inference.statistics import holm
from recallmeter.evaluation.inference.verdict import PairedTest, Verdict, conclude, corrected, decide, outcome, weigh, weigh_all, written


def falls(queries, by, n):
    """Differences of n queries, so many of which fall."""
    return np.r_[np.full(queries, -by), np.zeros(n - queries)]


def one(differences, margin=0.02, alpha=0.05, clusters=None):
    return decide([PairedTest(np.asarray(differences, float), margin, alpha, clusters)])[0]


@pytest.mark.parametrize(("n", "who", "share"), [(1, "1 query excludes", "95.0"), (156, "156 queries exclude", "1.9")])
def test_nothing_moved_passes_and_says_what_that_excludes(n, who, share):
    decision = one(np.zeros(n), margin=0.0)
    assert (decision.verdict, decision.mean, decision.p, decision.needed) == (Verdict.PASS, 0.0, 1.0, None)
    assert decision.why == f"nothing moved; {who} that more than {share} % of such are lost"


def test_a_loss_beyond_what_is_accepted_is_a_regression_with_its_p():
    decision = one(falls(8, 1.0, 150))
    assert decision.verdict is Verdict.REGRESSION
    assert decision.p == robust_test(falls(8, 1.0, 150), alternative="less", shift=0.02).p[0]
    assert decision.why == f"fell by 5.3 pp; a loss of more than 2.0 pp is shown, p {written(decision.adjusted)}"


def test_a_loss_that_is_shown_to_be_one_may_still_be_accepted():
    decision = one(falls(8, 0.5, 150))
    assert (decision.verdict, decision.loss_shown, decision.exploratory) == (Verdict.INCONCLUSIVE, True, False)
    assert decision.why.startswith("a loss of 2.7 pp is shown, p = .004, but it may lie on either side of the 2.0 pp accepted; about ")
    assert one(falls(8, 0.5, 150), margin=0.0).verdict is Verdict.REGRESSION


def test_a_loss_within_the_margin_is_told_with_the_pass():
    decision = one(falls(30, 0.1, 500))
    assert (decision.verdict, decision.loss_shown) == (Verdict.PASS, True)
    shown = f"a loss of 0.6 pp is shown, p {written(decision.loss)}, within the 2.0 pp accepted"
    assert decision.why == f"a loss of more than {-100 * decision.lowest:.1f} pp is excluded; {shown}"
    assert -0.02 < decision.lowest < -0.006


def test_four_falling_queries_can_never_be_significant():
    decision = one(falls(4, 0.5, 150), margin=0.0)
    assert (decision.verdict, decision.loss_shown, decision.adjusted) == (Verdict.INCONCLUSIVE, False, 1.0)
    assert decision.why.startswith("no loss is shown; one of ")


def test_few_queries_that_all_fall_a_little_are_exploratory():
    decision = one(falls(8, 0.5, 40))
    assert (decision.verdict, decision.exploratory) == (Verdict.INCONCLUSIVE, True)
    assert "exploratory: it would be a regression if so few queries could rule out that some like them gain much" in decision.why
    assert one(falls(8, 1.0, 40)).verdict is Verdict.REGRESSION


def test_no_query_got_worse_is_not_enough_where_few_were_asked():
    assert one([0.5, *np.zeros(19)]).verdict is Verdict.INCONCLUSIVE
    assert one([0.5, *np.zeros(299)]).verdict is Verdict.PASS
    assert one([*np.full(40, 0.5), *np.zeros(110)], margin=0.0).verdict is Verdict.PASS


def test_so_few_that_nothing_can_be_shown_are_told_so():
    decision = one([-1.0, 1.0, -1.0])
    assert (decision.lowest, decision.detectable, decision.worst) == (-1.0, None, None)
    assert decision.why == "no loss is shown; one of 100.0 pp is still possible; 3 queries are too few to show any loss"


def test_all_tests_of_a_gate_are_one_holm_family_whatever_their_sizes():
    random = np.random.default_rng(3)
    arrays = [random.choice([-0.5, 0.0, 0.0, 0.25], n) for n in (140, 125, 140, 160)]
    decisions = decide([PairedTest(array, 0.02, 0.05) for array in arrays])
    alone = [float(robust_test(array, alternative="less", shift=0.02).p[0]) for array in arrays]
    assert [decision.p for decision in decisions] == pytest.approx(alone, abs=1e-12)
    assert [decision.adjusted for decision in decisions] == pytest.approx(holm(alone).tolist())


def test_more_tests_make_each_less_sensitive():
    values = falls(8, 1.0, 150)
    assert one(values).verdict is Verdict.REGRESSION
    twice = decide([PairedTest(values, 0.02, 0.05), PairedTest(np.roll(values, 3) * 0.1, 0.02, 0.05)])
    assert (twice[0].verdict, twice[0].loss_shown) == (Verdict.INCONCLUSIVE, True)
    assert twice[0].worst > one(values).worst


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_a_stricter_level_of_ones_own_counts(alpha):
    values = falls(9, 1.0, 150)
    assert (one(values, alpha=alpha).verdict is Verdict.REGRESSION) == (alpha == 0.05)


def test_what_cannot_alarm_costs_the_others_nothing():
    falling, four = falls(9, 1.0, 150), falls(4, 0.5, 150)
    decisions = decide([PairedTest(values, 0.02, 0.05) for values in (falling, np.zeros(150), four)])
    assert [decision.verdict for decision in decisions] == [Verdict.REGRESSION, Verdict.PASS, Verdict.INCONCLUSIVE]
    assert decisions[0].adjusted == decisions[0].p
    assert [decision.adjusted for decision in decisions[1:]] == [1.0, 1.0]
    assert decisions[0].worst == one(falling).worst < decisions[2].worst


@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_a_loss_that_is_accepted_rarely_alarms(loss):
    random = np.random.default_rng(120)
    share = 0.15 + 2 * loss  # falls of .5 on so many queries, rises on .15
    drawn = random.choice([-0.5, 0.5, 0.0], (600, 120), p=[share, 0.15, 0.85 - share])
    evidence = weigh(drawn, 0.02, Clusters.alone(120), resamples=1000)
    decisions = [conclude([PairedTest(row, 0.02, 0.05)], [found])[0] for row, found in zip(drawn, evidence, strict=True)]
    error = 2.6 * (0.05 * 0.95 / 600) ** 0.5
    assert np.mean([decision.verdict is Verdict.REGRESSION for decision in decisions]) <= 0.05 + error
    if loss:
        assert np.mean([decision.verdict is Verdict.PASS for decision in decisions]) <= 0.05 + error
    else:
        assert np.mean([decision.loss_shown for decision in decisions]) <= 0.05 + error


def test_an_effect_is_stated_in_its_worst_shape_and_as_seen_where_enough_changed():
    few, many = one(falls(9, 0.2, 150)), one(np.r_[falls(9, 0.2, 149), 0.1])
    assert few.worst == many.worst == worst_detectable(150, margin=0.02)
    assert few.detectable is None
    assert 0.02 < many.detectable < many.worst


def test_a_slice_that_cannot_show_what_it_accepts_is_blind():
    assert one(falls(1, 0.5, 24), margin=0.05).blind
    assert not one(falls(1, 0.5, 24), margin=0.4).blind
    assert one(falls(1, 0.5, 120), margin=0.05).blind
    assert not one(falls(1, 0.5, 150), margin=0.05).blind


def test_groups_are_the_units_and_too_few_of_them_speak_of_themselves_alone():
    values = np.tile(falls(5, 1.0, 10), 12)
    twelve = Clusters.of([f"g{i // 10}" for i in range(120)])
    assert one(values, clusters=twelve).groups == 12
    assert one(values, clusters=twelve).verdict is Verdict.REGRESSION
    three = one(values, clusters=Clusters.of([f"g{i // 40}" for i in range(120)]))
    assert (three.verdict, three.loss_shown) == (Verdict.INCONCLUSIVE, True)
    assert three.why.startswith("a loss of 50.0 pp is shown on the questions of these 3 groups; so few tell nothing of others")


@pytest.mark.parametrize(
    ("differences", "groups", "told"),
    [
        ([-1.0] * 5, None, "about 6 queries of this spread would settle it"),
        ([-1.0] * 60, np.arange(60) // 12, "about 72 queries of this spread would settle it"),
        (falls(20, 1.0, 100), np.arange(100) // 50, "these 2 groups; so few tell nothing of others; more groups are needed, and not more"),
        (falls(20, 1.0, 100), np.zeros(100, int), "this one group; it tells nothing of others; more groups are needed, and not more"),
        ([-1.0], None, "1 query is too few to show any loss"),
        ([1.0] * 50, None, "any loss is excluded"),
    ],
)
def test_what_is_said_of_odd_samples_is_true_of_them(differences, groups, told):
    assert told in one(differences, clusters=None if groups is None else Clusters(groups)).why


def test_one_test_weighed_anew_among_the_others_decides_as_the_whole_gate_does():
    drawn = np.random.default_rng(5).choice([-0.5, -0.2, 0.0, 0.0, 0.0, 0.2], (4, 130))
    tests = [PairedTest(row, margin, 0.05) for row, margin in zip(drawn, (0.0, 0.02, 0.02, 0.1), strict=True)]
    evidence, seen = weigh_all(tests), set()
    for row, test in enumerate(tests):
        for gain in (-0.3, 0.0, 0.06, 0.3):
            other = test._replace(differences=(test.differences + gain * (np.arange(130) % 3 == 0)).round(6))
            gate = [*tests[:row], other, *tests[row + 1 :]]
            adjusted = corrected(gate, [*evidence[:row], *weigh_all([other]), *evidence[row + 1 :]])
            found, whole = outcome(other, adjusted[row]), decide(gate)[row]
            assert (found.verdict, found.loss_shown) == (whole.verdict, whole.loss_shown)
            seen.add((found.verdict, found.loss_shown))
    assert {verdict for verdict, _ in seen} == set(Verdict)
    assert {shown for _, shown in seen} == {True, False}
