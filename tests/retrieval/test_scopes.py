"""Many scopes with the same texts: every search stays in its own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.arms.grep import Grep
from recallmeter.retrieval.external.libraries.sqlite_fts5 import SqliteFts5
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.ranking import Retriever
from recallmeter.retrieval.text.analysis import Analyzer

SYSTEMS = {
    "bm25": lambda: Pipeline({"bm25": BM25(Analyzer())}),
    "grep": lambda: Pipeline({"grep": Grep()}),
    "sqlite_fts5": SqliteFts5,
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_scope_sees_another_one(name: str):
    texts = [f"shared subject number{n} in common words" for n in range(20)]
    memory = [
        Observation(
            id=f"{scope:02}-{n:02}", session_id="s", timestamp=datetime(2024, 1, 1, tzinfo=UTC), type="note", title=text, scope=str(scope)
        )
        for n, text in enumerate(texts)
        for scope in range(40)
    ]
    system: Retriever = SYSTEMS[name]()
    system.index(memory)
    answers = {scope: system.search("shared number7 words", 50, scope=str(scope)) for scope in range(40)}
    assert all({identifier[:2] for identifier in answer.ids} == {f"{scope:02}"} for scope, answer in answers.items())
    assert {len(answer.hits) for answer in answers.values()} == {20}
    assert {answer.ids[0][3:] for answer in answers.values()} == {"07"}
    assert len({tuple(round(hit.score, 9) for hit in answer.hits) for answer in answers.values()}) == 1
    assert system.search("shared number7 words", 50).hits == ()
