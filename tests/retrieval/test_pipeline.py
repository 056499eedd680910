from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.fusion import WeightedRRF
from recallmeter.retrieval.pipeline import Pipeline

START = datetime(2026, 1, 5, tzinfo=UTC)


def observation(identifier: str, title: str, *, scope: str = "", session: str = "s1", day: int = 0) -> Observation:
    return Observation(id=identifier, session_id=session, timestamp=START + timedelta(days=day), type="note", title=title, scope=scope)


class Words:
    """An arm for tests: the share of the question's words that stand in the title."""

    def build(self, corpus: Corpus) -> Words.Index:
        return Words.Index(corpus)

    class Index:
        def __init__(self, corpus: Corpus) -> None:
            self.corpus = corpus

        def search(self, question: Question, limit: int) -> Candidates:
            wanted = set(question.text.split())
            scores = np.array([len(wanted & set(o.title.split())) for o in self.corpus.observations], np.float64)
            if question.visible is not None:
                scores[~question.visible] = 0
            rows = np.flatnonzero(scores)
            return Candidates.best(rows, scores[rows], limit)


class LastFirst:
    """A stage for tests: turns the order around and drops what stood first."""

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        return candidates.take(range(len(candidates) - 1, 0, -1))


MEMORY = [
    observation("c", "red blue"),
    observation("a", "red"),
    observation("b", "red"),
    observation("d", "green", day=3),
    observation("e", "red", scope="x"),
]


def pipeline(**settings: object) -> Pipeline:
    built = Pipeline({"words": Words()}, **settings)  # type: ignore[arg-type]
    built.index(MEMORY)
    return built


def test_hits_come_best_first_with_ties_by_id() -> None:
    assert pipeline().search("red blue", 10).ids == ("c", "a", "b")


def test_a_scope_never_sees_another() -> None:
    assert pipeline().search("red", 10, scope="x").ids == ("e",)
    assert pipeline().search("red", 10, scope="unknown").ids == ()


def test_nothing_later_than_the_question_is_found() -> None:
    assert pipeline().search("green", 5, asked_at=START + timedelta(days=2)).ids == ()
    assert pipeline().search("green", 5, asked_at=START + timedelta(days=3)).ids == ("d",)


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_finds_nothing(k: int) -> None:
    assert pipeline().search("red", k).ids == ()


def test_k_beyond_the_memory_gives_what_matches() -> None:
    assert len(pipeline().search("red", 10**9).hits) == 3


def test_a_question_that_matches_nothing_gets_nothing() -> None:
    assert pipeline().search("purple", 3).ids == ()


def test_sorting_by_score_gives_back_the_order_of_the_stages() -> None:
    ranking = pipeline(stages={"turn": LastFirst()}).search("red blue", 10)
    assert ranking.ids == ("b", "a")
    assert sorted(ranking.hits, key=lambda hit: (-hit.score, hit.id)) == list(ranking.hits)
    assert ranking.trace is not None
    assert ranking.trace.dropped == {"turn": ("c",)}


def test_the_trace_tells_arms_and_times() -> None:
    trace = pipeline().search("red blue", 2).trace
    assert trace is not None
    assert trace.arms["words"].ids == ("c", "a", "b")
    assert set(trace.spans) == {"total", "total.words"}
    assert trace.spans["total"] >= trace.spans["total.words"] >= 0


def test_a_second_index_replaces_the_first() -> None:
    built = pipeline()
    built.index([observation("z", "red")])
    assert built.search("red", 5).ids == ("z",)


def test_a_switched_off_arm_leaves_the_others_as_they_were() -> None:
    arms: Mapping = {"one": Words(), "two": Words(), "off": None}
    both, third = (
        Pipeline(arms, WeightedRRF({"one": 0.4, "two": 0.6, "off": 0.3})),
        Pipeline({"one": Words(), "two": Words()}, WeightedRRF({"one": 0.4, "two": 0.6})),
    )
    both.index(MEMORY)
    third.index(MEMORY)
    assert both.search("red blue", 5).hits == third.search("red blue", 5).hits


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"arms": {}}, "at least one arm"),
        ({"arms": {"a": Words(), "b": Words()}}, "no fusion"),
        ({"arms": {"a": Words()}, "depth": 0}, "depth"),
    ],
)
def test_compositions_that_cannot_work_are_refused(settings: dict, told: str) -> None:
    with pytest.raises(InputError, match=told):
        Pipeline(**settings)


def test_a_memory_with_one_id_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'a' occurs twice"):
        Pipeline({"words": Words()}).index([observation("a", "x"), observation("a", "y")])
