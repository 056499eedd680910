"""The metric contract leaves no measure without its words."""

from __future__ import annotations

from recallmeter.evaluation.measures.canonical import TIE_RULE
from recallmeter.evaluation.measures.contract import CONTRACT, RULES
from recallmeter.evaluation.measures.grammar import known_measures


def test_every_measure_has_one_entry() -> None:
    assert [entry.measure for entry in CONTRACT] == [kind.form() for kind in known_measures()]
    names = [alias for kind in known_measures() for alias in (kind.name, *kind.aliases)]
    assert len(set(names)) == len(names)


def test_no_cell_is_empty_and_the_tie_rule_is_named() -> None:
    assert all(cell for row in (*CONTRACT, *RULES) for cell in row)
    assert any(TIE_RULE in rule.text for rule in RULES)
