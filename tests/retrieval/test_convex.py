"""Fusion of scores over the whole memory, what stands beside a hit, and what is linked to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.arms.links import Links
from recallmeter.retrieval.arms.vector import Vector, texts_in_context
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.fusion import ConvexCombination, MinMax, Unscaled, WeightedRRF, ZScore
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.stages.neighbours import SessionNeighbours

START = datetime(2026, 1, 1, tzinfo=UTC)


def found(rows: list[int], scores: list[float], every: list[float] | None = None, trust: float = 1.0) -> Candidates:
    return Candidates(np.array(rows), np.array(scores), None if every is None else np.array(every), trust)


def observation(number: int, text: str, kind: str = "turn", concepts: tuple[str, ...] = (), hours: int = 0) -> Observation:
    moment = START + timedelta(hours=hours)
    return Observation(id=f"o{number}", session_id="s", timestamp=moment, type=kind, title="", narrative=text, concepts=concepts)


def test_standard_scores_of_every_row_are_added_up() -> None:
    words, vectors = [3.0, 0.0, 0.0, 1.0], [0.2, 0.8, 0.6, 0.4]
    fused = ConvexCombination({"a": 1, "b": 3}).fuse({"a": found([0, 3], [3.0, 1.0], words), "b": found([1, 2], [0.8, 0.6], vectors)})
    expected = sum(w * (np.array(x) - np.mean(x)) / np.std(x) for w, x in ((0.25, words), (0.75, vectors)))
    assert fused.every == pytest.approx(expected)
    assert fused.rows.tolist() == sorted(range(4), key=lambda row: -expected[row])
    assert fused.scores == pytest.approx(sorted(expected, reverse=True))


def test_an_arm_that_knows_only_what_it_found_counts_the_rest_as_its_lowest() -> None:
    fused = ConvexCombination(normalisation={"a": MinMax(), "b": MinMax()}).fuse({"a": found([4, 1], [0.9, 0.5]), "b": found([2], [7.0])})
    assert fused.every is None
    assert fused.rows.tolist() == [4, 1, 2]
    assert fused.scores == pytest.approx([0.5, 0.0, 0.0])


def test_rows_that_were_not_visible_stay_out_of_the_scale() -> None:
    fused = ConvexCombination().fuse({"a": found([0, 1], [3.0, 1.0], [3.0, 1.0, np.nan])})
    assert fused.every == pytest.approx([1.0, -1.0, np.nan], nan_ok=True)
    assert fused.rows.tolist() == [0, 1]


def test_an_arm_counts_as_far_as_it_is_trusted() -> None:
    arms = {"a": found([0], [1.0], [1.0, 0.0]), "b": found([1], [1.0], [0.0, 1.0], trust=0.5)}
    assert ConvexCombination().fuse(arms).rows.tolist() == [0, 1]
    assert WeightedRRF({"a": 1, "b": 1}).fuse(arms).scores == pytest.approx([2 / 3 / 61, 1 / 3 / 61])
    assert ConvexCombination().fuse({"b": found([1], [1.0], [0.0, 1.0], trust=0.0)}).rows.tolist() == []


def test_equal_scores_tell_nothing_apart() -> None:
    assert ConvexCombination().fuse({"a": found([0, 1], [2.0, 2.0], [2.0, 2.0])}).scores.tolist() == [0.0, 0.0]
    assert (ZScore().scale(np.array([1.0, 3.0])), Unscaled().scale(np.array([1.0, 3.0]))) == ((2.0, 1.0), (0.0, 1.0))


@pytest.mark.parametrize("weights", [{"a": -1}, {"a": 0, "b": 0}])
def test_weights_that_weigh_nothing_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(InputError, match="weight"):
        ConvexCombination(weights)


def test_neighbours_run_by_time_and_by_the_numbers_of_ids() -> None:
    corpus = Corpus.of([observation(n, "x") for n in (9, 10, 11)] + [observation(1, "x", hours=1)])
    assert corpus.ids == ("o1", "o10", "o11", "o9")
    assert corpus.neighbours.tolist() == [[2, -1], [3, 2], [1, 0], [-1, 1]]


def test_a_turn_beside_a_hit_is_found() -> None:
    stages = {"neighbours": SessionNeighbours(0.5)}
    for kind, ids in (("turn", ("o2", "o1", "o3")), ("note", ("o2",))):
        system = Pipeline({"bm25": BM25()}, stages=stages)
        system.index([observation(n, text, kind) for n, text in enumerate(["far", "before", "the cache", "after", "off"])])
        assert system.search("cache", 3).ids == ids
    with pytest.raises(InputError, match="negative"):
        SessionNeighbours(-1)


class Letters:
    """An embedder of the letters a and b."""

    model = "letters"
    scripts = ("LATIN",)

    def embed(self, texts):
        vectors = np.array([[text.count("a") + 1e-6, text.count("b") + 1e-6] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_query(self, text):
        return self.embed([text])[0]


def test_a_turn_is_embedded_after_the_one_before() -> None:
    corpus = Corpus.of([observation(1, "one"), observation(2, "two"), observation(3, "three", "note")])
    assert texts_in_context(corpus, 1) == ["one", "one, two", "three"]
    assert texts_in_context(corpus, 0) == ["one", "two", "three"]
    with pytest.raises(InputError, match="context_turns"):
        Vector(Letters(), context_turns=-1)


def test_an_embedder_is_trusted_in_its_own_script() -> None:
    index = Vector(Letters()).build(Corpus.of([observation(1, "a"), observation(2, "b")]))
    assert [index.search(Question(text), 2).trust for text in ("ab", "ab数据", "12")] == [1.0, 0.5, 1.0]
    every = index.search(Question("a", visible=np.array([False, True])), 2).every
    assert every is not None
    assert np.isnan(every).tolist() == [True, False]


def test_what_shares_a_rare_concept_with_the_first_hit_is_linked() -> None:
    memory = [
        observation(1, "The grey morning", "note", ("restore drill",)),
        observation(2, "Rehearsed every quarter", "note", ("restore drill",)),
        *(observation(n, f"Other work {n}", "note", ("daily",)) for n in range(3, 9)),
    ]
    links = Links(ConvexCombination({"bm25": 1}))
    system = Pipeline({"bm25": BM25(), "graph": links}, ConvexCombination({"bm25": 1, "graph": 1}, {"graph": Unscaled()}))
    system.index(memory)
    answer = system.search("grey morning", 5)
    assert answer.ids == ("o1", "o2")
    assert answer.trace is not None
    assert answer.trace.arms["graph"].ids == ("o2",)
    for settings in ({"first": 0}, {"decay": 2}, {"enough": 0}, {"kinds": {"mood": 1}}, {"kinds": {"file": 2}}):
        with pytest.raises(InputError):
            Links(ConvexCombination(), **settings)
