"""Asking a query again: what may differ between two answers, and what may not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.loop import Protocol, evaluate
from recallmeter.retrieval.ranking import Ranking

OBSERVATIONS = tuple(
    Observation(id=name, session_id="s", timestamp=datetime(2024, 1, 1, tzinfo=UTC), type="note", title=name) for name in "abcd"
)


class Alternating:
    """Gives one answer, then the other."""

    def __init__(self, *answers):
        self.answers, self.asked = answers, 0

    def index(self, observations):
        pass

    def search(self, query, k, **terms):
        self.asked += 1
        return Ranking.of(self.answers[self.asked % len(self.answers)])


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ([("a", 0.5), ("b", 0.4)], [("a", 0.5), ("b", 0.4)], True),
        ([("a", 0.71689744), ("b", 0.46211028)], [("a", 0.71689744), ("b", 0.46211033)], True),
        ([("a", 0.5), ("b", 0.5 - 1e-8)], [("b", 0.5), ("a", 0.5 - 1e-8)], True),
        ([("a", 0.9), ("b", 0.5)], [("a", 0.9), ("c", 0.5)], True),
        ([("a", 1.0), ("b", 0.5)], [("b", 1.0), ("a", 0.5)], False),
        ([("a", 0.9), ("b", 0.5)], [("c", 0.9), ("b", 0.5)], False),
        ([("a", 0.9)], [("a", 0.9), ("b", 0.5)], False),
        ([("a", 0.9)], [], False),
    ],
)
def test_answers_agree_up_to_ties_and_float32(one, other, alike):
    dataset = Dataset("d", OBSERVATIONS, (Query(id="q", text="x", relevant={"a": 1}),))
    [result] = evaluate(dataset, {"system": Alternating(one, other)}, Protocol(k=2, warm_up=0, repeats=2), progress=False)
    assert ("gave different answers" in result.answers["q"].error) is not alike
