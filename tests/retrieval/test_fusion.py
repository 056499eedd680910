from __future__ import annotations

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.retrieval.corpus import Candidates
from recallmeter.retrieval.fusion import WeightedRRF

A, B, C, X, Y = range(5)


def found(*rows: int) -> Candidates:
    return Candidates(np.array(rows, np.int64), np.linspace(1, 0.5, len(rows)))


def test_plain_rrf_of_two_arms_and_its_tie() -> None:
    fused = WeightedRRF(k=60).fuse({"dense": found(X, A, Y), "sparse": found(B, C, Y)})
    assert fused.rows.tolist() == [Y, B, X, A, C]  # X and b tie at 1/61, a and c at 1/62: by row
    assert fused.scores.tolist() == pytest.approx([2 / 63, 1 / 61, 1 / 61, 1 / 62, 1 / 62], abs=0)


def test_weights_are_shared_out_among_the_arms_that_answered() -> None:
    weights = {"bm25": 0.4, "vector": 0.6, "graph": 0.3}
    fused = WeightedRRF(weights).fuse({"bm25": found(A, B), "vector": found(B), "graph": Candidates.none()})
    scores = dict(zip(fused.rows.tolist(), fused.scores.tolist(), strict=True))
    assert scores[A] == pytest.approx(0.4 / 61)
    assert scores[B] == pytest.approx(0.4 / 62 + 0.6 / 61)


def test_an_empty_arm_changes_nothing() -> None:
    fusion = WeightedRRF({"bm25": 0.4, "vector": 0.6, "graph": 0.3})
    two = {"bm25": found(A, C), "vector": found(C, B)}
    alone, beside = fusion.fuse(two), fusion.fuse({**two, "graph": Candidates.none()})
    assert alone.rows.tolist() == beside.rows.tolist()
    assert alone.scores.tolist() == beside.scores.tolist()


def test_an_arm_of_weight_zero_adds_nothing_of_its_own() -> None:
    fused = WeightedRRF({"bm25": 1.0, "vector": 0.0}).fuse({"bm25": found(A), "vector": found(B)})
    assert fused.rows.tolist() == [A]


def test_the_agreement_bonus_is_relative_to_the_best_attainable_score() -> None:
    fused = WeightedRRF({"bm25": 0.5, "vector": 0.5}, agreement_bonus=0.05).fuse({"bm25": found(A, B), "vector": found(A, C)})
    assert fused.rows.tolist() == [A, B, C]
    assert fused.scores[0] == pytest.approx(1.05)
    assert fused.scores[1] == pytest.approx(0.5 * 61 / 62)


def test_nothing_found_is_nothing_fused() -> None:
    assert len(WeightedRRF().fuse({"bm25": Candidates.none()})) == 0


@pytest.mark.parametrize("settings", [{"weights": {"bm25": -0.1}}, {"weights": {"bm25": float("nan")}}, {"k": 0}, {"agreement_bonus": -1}])
def test_settings_out_of_range_are_refused(settings: dict) -> None:
    with pytest.raises(InputError):
        WeightedRRF(**settings)
