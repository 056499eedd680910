"""Cutoffs by rank, by a fixed similarity, and by the best one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.stages.cutoff import DynamicCutoff, Threshold, TopK

CORPUS = Corpus.of(
    Observation(id=f"o{i:02}", session_id="s", timestamp=datetime(2026, 1, 5, tzinfo=UTC), type="note", title="t") for i in range(15)
)


def candidates(*scores: float) -> Candidates:
    return Candidates(np.arange(len(scores)), np.array(scores))


def fused(rows: Sequence[int]) -> Candidates:
    return Candidates(np.array(rows), 1 / (61 + np.arange(len(rows))))


def kept(stage: TopK | Threshold | DynamicCutoff, given: Candidates, question: Question | None = None) -> list[int]:
    return stage.apply(given, question or Question("q"), CORPUS, 20).rows.tolist()


def test_top_k_counts() -> None:
    assert kept(TopK(3), candidates(0.9, 0.1, 0.05, 0.01)) == [0, 1, 2]
    assert kept(TopK(3), candidates(0.9)) == [0]


def test_a_threshold_is_reached_by_equality() -> None:
    assert kept(Threshold(0.7), candidates(0.9, 0.7, 0.6999)) == [0, 1]


def test_nothing_is_returned_when_the_best_is_below_the_floor() -> None:
    question = Question("q")
    assert kept(DynamicCutoff(0.52), candidates(0.51, 0.50), question) == []
    assert question.trace.notes == ["nothing returned: the best is below the floor of 0.52"]


def test_the_floor_itself_is_near_enough() -> None:
    assert kept(DynamicCutoff(0.5), candidates(0.5, 0.49)) == [0]


def test_what_comes_near_the_best_is_kept_above_the_floor() -> None:
    assert kept(DynamicCutoff(0.5, 0.85), candidates(0.8, 0.68, 0.67, 0.6)) == [0, 1]
    assert kept(DynamicCutoff(0.5, 0.85), candidates(0.55, 0.5, 0.47)) == [0, 1], "the floor is above the share of the best"


def test_no_more_than_the_maximum_is_looked_at() -> None:
    assert kept(DynamicCutoff(maximum=10), candidates(*[0.9] * 15)) == list(range(10))


def test_a_best_similarity_below_zero_is_kept_when_the_floor_allows() -> None:
    assert kept(DynamicCutoff(floor=-1), candidates(-0.2, -0.3)) == [0]


def test_nothing_stays_nothing() -> None:
    assert kept(DynamicCutoff(), Candidates.none()) == []


@pytest.mark.parametrize("stage", [Threshold, DynamicCutoff])
def test_on_unit_vectors_cosine_dot_and_euclidean_distance_decide_alike(stage: type[Threshold | DynamicCutoff]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        near = rng.normal(size=8)
        vectors = near + rng.normal(scale=0.6, size=(12, 8))
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        query = near / np.linalg.norm(near)
        order = np.argsort(-(unit @ query))
        cosine = (unit @ query)[order]
        distance = np.linalg.norm(unit[order] - query, axis=1)
        by_cosine = kept(stage(0.6), candidates(*cosine))
        assert kept(stage(0.6, metric="dot"), candidates(*cosine)) == by_cosine
        assert kept(stage(0.6, metric="l2"), candidates(*-distance)) == by_cosine


class TestAfterFusion:
    """Fused scores are no similarities: those of the named arm decide, in the fused order."""

    vector = Candidates(np.array([4, 1, 7, 2]), np.array([0.8, 0.75, 0.69, 0.4]))

    def asked(self, found: Candidates | None = None) -> Question:
        return Question("q", earlier={"bm25": fused([9, 1]), "vector": self.vector if found is None else found})

    def test_the_fused_order_stays(self) -> None:
        assert kept(DynamicCutoff(arm="vector"), fused([1, 9, 7, 4, 2]), self.asked()) == [1, 7, 4]
        assert kept(Threshold(0.7, arm="vector"), fused([1, 9, 7, 4, 2]), self.asked()) == [1, 4]

    def test_the_scores_stay_those_of_the_fusion(self) -> None:
        found = DynamicCutoff(arm="vector").apply(fused([1, 9, 7]), self.asked(), CORPUS, 20)
        assert found.scores.tolist() == [1 / 61, 1 / 63]

    def test_nothing_near_empties_the_answer_whatever_term_match_found(self) -> None:
        assert kept(DynamicCutoff(0.9, arm="vector"), fused([9, 1]), self.asked()) == []

    def test_an_arm_that_found_nothing_cuts_nothing_and_says_so(self) -> None:
        question = self.asked(Candidates.none())
        assert kept(DynamicCutoff(maximum=2, arm="vector"), fused([9, 1, 3]), question) == [9, 1]
        assert kept(Threshold(arm="vector"), fused([9, 1, 3]), question) == [9, 1, 3]
        assert question.trace.notes == ["not cut: arm vector found nothing to judge by"] * 2

    def test_an_arm_that_is_not_there_is_named(self) -> None:
        with pytest.raises(InputError, match=r"no arm 'vectors' to cut by; name one of bm25, vector"):
            kept(Threshold(arm="vectors"), fused([1]), self.asked())


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: TopK(0), "n 0"),
        (lambda: DynamicCutoff(ratio=1.1), r"ratio 1\.1"),
        (lambda: DynamicCutoff(maximum=0), "maximum 0"),
        (lambda: Threshold(metric="euclid"), "unknown metric 'euclid'"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, what: str) -> None:
    with pytest.raises(InputError, match=what):
        make()  # type: ignore[operator]
