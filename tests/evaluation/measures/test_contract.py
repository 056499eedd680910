"""The metric contract leaves no measure without its words."""

from __future__ import annotations

from recallmeter.evaluation.measures.canonical import TIE_RULE
from recallmeter.evaluation.measures.contract import CONTRACT, RULES
from recallmeter.evaluation.measures.grammar import MEASURE_NAMES


def test_every_measure_has_one_entry() -> None:
    names = [entry.measure.partition("@")[0] for entry in CONTRACT]
    assert names[: len(MEASURE_NAMES)] == [*MEASURE_NAMES]
    assert len(set(names)) == len(names)


def test_no_cell_is_empty_and_the_tie_rule_is_named() -> None:
    assert all(cell for row in (*CONTRACT, *RULES) for cell in row)
    assert any(TIE_RULE in rule.text for rule in RULES)
