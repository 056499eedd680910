"""Rules of a gate: read from YAML, checked, and refused with the key that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.judging.rules import Rule, read_rules, rules_from


@pytest.mark.parametrize("name", ["default", "by_category"])
def test_the_packaged_rules_are_sound(name):
    rules = rules_from(read_rules(Path(__file__).resolve().parents[3] / "conf" / "gate" / f"{name}.yaml"))
    assert rules.alpha == 0.05
    assert rules.rules["recall"].margin == 0.02


def test_measures_are_understood_as_people_write_them():
    assert Rule(measure="R@10", max_drop=2).name == "recall@10"
    assert Rule(measure="nDCG@10", category="exact", max_drop=2).name == "ndcg@10 · exact"


def test_a_rule_is_switched_off_by_null_and_may_differ_from_the_gate():
    rules = rules_from({"rules": {"a": None, "b": {"measure": "mrr", "max_drop": 1, "on_inconclusive": "pass"}}})
    assert rules.rules["a"] is None
    assert [rules.handling(rules.rules["b"], loss_shown=shown) for shown in (False, True)] == ["pass", "fail"]
    assert [rules.handling(Rule(measure="mrr", floor=50), loss_shown=shown) for shown in (False, True)] == ["warn", "fail"]
    lax = rules_from({"on_shown_loss": "pass", "rules": {"b": {"measure": "mrr", "max_drop": 1, "on_shown_loss": "warn"}}})
    assert lax.handling(lax.rules["b"], loss_shown=True) == "warn"
    with pytest.raises(InputError, match="on_shown_loss 'maybe' is unknown"):
        rules_from({"on_shown_loss": "maybe", "rules": {"b": {"measure": "mrr", "max_drop": 1}}})


GOOD = {"measure": "recall@10", "max_drop": 2}


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"rules": {}}, "gate: rules: the gate has no rule"),
        ({"rules": {"r": {"measure": "recall@10"}}}, "gate: rules.r: the rule on recall@10 holds nothing"),
        ({"rules": {"r": {"max_drop": 1}}}, "gate: rules.r: it names no measure"),
        ({"rules": {"r": {"measure": "recal@10", "max_drop": 1}}}, "rules.r: there is no measure 'recal@10'; did you mean recall@k"),
        ({"rules": {"r": {**GOOD, "max_drop": -1}}}, "rules.r: max_drop -1 is not a number from 0 to 100"),
        ({"rules": {"r": {**GOOD, "max_drop": "2"}}}, "max_drop '2' is not a number"),
        ({"rules": {"r": {**GOOD, "floor": 0.8}}}, "floor 0.8 is in per cent; write 80 if"),
        ({"rules": {"r": {**GOOD, "margin": 1}}}, "rules.r: there is no setting 'margin'; there are measure, category"),
        ({"rules": {"r": {**GOOD, "alpha": 0.2}}}, "rules.r: alpha 0.2 is above the gate's 0.05"),
        ({"rules": {"r": "recall@10"}}, "rules.r: 'recall@10' is not a mapping"),
        ({"rules": {"r": GOOD}, "alpha": 5}, "gate: alpha 5 is not a number from 0 to 1"),
        ({"rules": {"r": GOOD}, "alpha": 0}, "gate: alpha 0 leaves nothing to chance"),
        ({"rules": {"r": GOOD}, "power": 1}, "gate: power 1 leaves nothing to chance"),
        ({"rules": {"r": {**GOOD, "alpha": 0.0}}}, "rules.r: alpha 0.0 leaves nothing to chance"),
        ({"rules": {"r": GOOD}, "on_inconclusive": "ignore"}, "on_inconclusive 'ignore' is unknown; write fail, warn or pass"),
        ({"rules": {"r": GOOD}, "tokens": True}, "tokens True is not a number"),
        ({"rulez": {"r": GOOD}}, "gate: there is no setting 'rulez'"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(settings, complaint):
    with pytest.raises(InputError) as caught:
        rules_from(settings)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(("text", "complaint"), [(None, "can't be read"), ("a: [", "not valid YAML"), ("- a", "not a YAML mapping")])
def test_a_file_that_holds_no_rules_is_told_in_one_line(tmp_path, text, complaint):
    path = tmp_path / "rules.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=complaint) as caught:
        read_rules(path)
    assert "\n" not in str(caught.value)
