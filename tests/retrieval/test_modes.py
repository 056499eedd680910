"""Keyword, semantic and hybrid mode: what answers when the embedder does not, and that the trace says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.arms.fallback import Fallback
from recallmeter.retrieval.arms.vector import Vector
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.embedders.choice import NoEmbedder
from recallmeter.retrieval.embedders.embedding import CachedEmbedder, Kind, Vectors
from recallmeter.retrieval.fusion import WeightedRRF
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.unavailable import UnavailableError

WHEN = datetime(2025, 3, 1, tzinfo=UTC)


class Flaky:
    """An encoder of letter counts that raises for texts which `fails` picks."""

    model, batch_size = "letters@0", 8

    def __init__(self, fails: Callable[[Sequence[str], Kind], bool] = lambda texts, kind: False) -> None:
        self.fails, self.calls = fails, 0
        self.error: Exception = UnavailableError("letters: HTTP 503 at the last of 3 tries")

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        self.calls += 1
        if self.fails(texts, kind):
            raise self.error
        return np.array([[text.count(letter) + 0.01 for letter in "aeiou"] for text in texts], np.float32)


def memory() -> list[Observation]:
    titles = {"a": "banana sandal", "b": "eerie eel", "c": "kiwi in iris", "d": "tofu bowl"}
    return [Observation(id=i, session_id="s", timestamp=WHEN, type="note", title=title) for i, title in titles.items()]


def semantic(encoder: Flaky, cache: Path) -> Pipeline:
    system = Pipeline({"semantic": Fallback(Vector(CachedEmbedder(encoder, cache=str(cache))), BM25())})
    system.index(memory())
    return system


def hybrid(encoder: Flaky, cache: Path) -> Pipeline:
    arms = {"keyword": BM25(), "semantic": Fallback(Vector(CachedEmbedder(encoder, cache=str(cache))))}
    system = Pipeline(arms, WeightedRRF())
    system.index(memory())
    return system


def keyword() -> Pipeline:
    system = Pipeline({"keyword": BM25()})
    system.index(memory())
    return system


def asked(system: Pipeline, text: str) -> tuple[tuple[str, ...], list[str]]:
    ranking = system.search(text, 4)
    assert ranking.trace is not None
    return ranking.ids, ranking.trace.notes


def test_while_the_embedder_works_the_vectors_answer_and_nothing_is_noted(tmp_path: Path) -> None:
    ids, notes = asked(semantic(Flaky(), tmp_path), "aaa")
    assert ids[0] == "a"
    assert len(ids) == 4
    assert notes == []


FAULTS = {
    "storing": lambda texts, kind: kind == "document",
    "asking": lambda texts, kind: kind == "query",
    "everything": lambda texts, kind: True,
}


@pytest.mark.parametrize("mode", [semantic, hybrid])
@pytest.mark.parametrize("fails", FAULTS.values(), ids=FAULTS)
def test_a_failing_embedder_leaves_the_answer_to_the_keywords_and_is_noted(
    mode: Callable[..., Pipeline], fails: Callable[..., bool], tmp_path: Path
) -> None:
    ids, notes = asked(mode(Flaky(fails), tmp_path), "eel kiwi")
    assert set(ids) == set(asked(keyword(), "eel kiwi")[0]) == {"b", "c"}
    assert notes == ["fell back: letters: HTTP 503 at the last of 3 tries"]


@pytest.mark.parametrize("mode", [semantic, hybrid])
def test_only_the_queries_that_failed_fall_back(mode: Callable[..., Pipeline], tmp_path: Path) -> None:
    system = mode(Flaky(lambda texts, kind: kind == "query" and "kiwi" in texts), tmp_path)
    notes = {text: asked(system, text)[1] for text in ("eel", "kiwi", "tofu")}
    assert [text for text, found in notes.items() if found] == ["kiwi"]


def test_without_a_provider_the_modes_are_keyword_mode() -> None:
    system = Pipeline({"semantic": Fallback(Vector(NoEmbedder()), BM25())})
    system.index(memory())
    ids, notes = asked(system, "eel")
    assert ids == asked(keyword(), "eel")[0] == ("b",)
    assert len(notes) == 1
    assert notes[0].startswith("fell back: no embedding provider is chosen")


def test_a_failed_query_stays_failed_so_that_asking_again_gives_the_same(tmp_path: Path) -> None:
    encoder = Flaky(lambda texts, kind: kind == "query")
    system = semantic(encoder, tmp_path)
    first, calls = system.search("eel", 4), encoder.calls
    encoder.fails = lambda texts, kind: False
    second = system.search("eel", 4)
    assert second.hits == first.hits
    assert encoder.calls == calls
    assert second.trace is not None
    assert "total.semantic.failed" in second.trace.spans  # the time of the try still counts


def test_a_wrong_dimension_falls_back_where_a_pipeline_without_a_fallback_says_so(tmp_path: Path) -> None:
    encoder = Flaky(lambda texts, kind: kind == "query")
    encoder.error = InputError("a vector of 4 dimensions where 5 are stored")
    assert asked(semantic(encoder, tmp_path), "eel") == (("b",), ["fell back: a vector of 4 dimensions where 5 are stored"])
    plain = Pipeline({"vector": Vector(CachedEmbedder(encoder, cache=str(tmp_path)))})
    plain.index(memory())
    with pytest.raises(InputError, match="a vector of 4 dimensions"):
        plain.search("eel", 4)


class Silent:
    """An arm that indexes everything and finds nothing."""

    def build(self, corpus: Corpus) -> Silent:
        return self

    def search(self, question: Question, limit: int) -> Candidates:
        return Candidates.none()


def test_vectors_that_find_nothing_leave_the_answer_to_the_keywords() -> None:
    system = Pipeline({"semantic": Fallback(Silent(), BM25())})
    system.index(memory())
    assert asked(system, "eel") == (("b",), ["fell back: nothing was found"])


def test_where_nothing_answers_nothing_is_noted() -> None:
    system = Pipeline({"semantic": Fallback(Silent(), BM25())})
    system.index(memory())
    assert asked(system, "zebra") == ((), [])


def test_an_error_that_is_no_failure_of_the_embedder_is_not_hidden(tmp_path: Path) -> None:
    encoder = Flaky(lambda texts, kind: kind == "query")
    encoder.error = ZeroDivisionError("a bug")
    with pytest.raises(ZeroDivisionError):
        semantic(encoder, tmp_path).search("eel", 4)
