"""What a retriever may do besides finding, passed on by whatever wraps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pytest
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.audits.controls import Oracle
from recallmeter.evaluation.loop import Protocol, evaluate
from recallmeter.retrieval.expansion import Expansion
from recallmeter.retrieval.ingest.privacy import PrivacyFilter
from recallmeter.retrieval.ingest.retriever import Ingest
from recallmeter.retrieval.ranking import Closable, Control, Ranking, Reporting, Retriever, Wrapper


class Talkative:
    """Reports, can be closed, and would learn labels if anybody told them to it; nothing derives it from `Control`."""

    def __init__(self) -> None:
        self.closed, self.learnt = 0, 0

    def index(self, observations: Sequence[Observation]) -> None:
        self.count = len(observations)

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        return Ranking()

    def report(self) -> Mapping[str, Any]:
        return {"seen": self.count}

    def close(self) -> None:
        self.closed += 1

    def reveal(self, queries: Iterable[Query]) -> None:
        self.learnt += 1


def wrapped(retriever: Retriever) -> dict[str, Wrapper]:
    return {"ingest": Ingest(retriever, {"privacy": PrivacyFilter()}), "expansion": Expansion(retriever)}


@pytest.mark.parametrize("how", ["ingest", "expansion"])
def test_a_wrapper_passes_on_the_report_and_the_close(how: str, memory: Dataset) -> None:
    inner = Talkative()
    (result,) = evaluate(memory, {"wrapped": wrapped(inner)[how]}, Protocol(), progress=False)
    assert result.report["seen"] == len(memory.observations)
    assert (inner.closed, inner.learnt) == (1, 0)


@pytest.mark.parametrize("how", ["ingest", "expansion"])
def test_a_wrapped_control_is_told_the_labels(how: str, memory: Dataset) -> None:
    (result,) = evaluate(memory, {"wrapped": wrapped(Oracle())[how]}, Protocol(), progress=False)
    for query in memory.queries:
        assert {hit.id for hit in result.answers[query.id].hits} == set(query.relevant)


def test_what_a_retriever_may_do_is_told_from_what_it_has() -> None:
    assert isinstance(Talkative(), Reporting)
    assert isinstance(Talkative(), Closable)
    assert not isinstance(Talkative(), Control)
    assert not isinstance(Oracle(), Reporting | Closable)
