"""One ranking per query: what repeats, ties and cannot be compared."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.measures.canonical import canonical, canonical_matrix, canonical_run, without_self_hits
from recallmeter.retrieval.ranking import Hit


def ids(hits: tuple[Hit, ...]) -> str:
    return "".join(hit.id for hit in hits)


def test_scores_fall_and_ties_go_by_id() -> None:
    hits = [Hit("c", 1.0), Hit("b", 2.0), Hit("a", 1.0), Hit("d", 2.0)]
    assert {ids(canonical(order)) for order in itertools.permutations(hits)} == {"bdac"}


def test_what_is_canonical_already_is_kept() -> None:
    hits = (Hit("b", 2.0), Hit("a", 1.0))
    assert canonical(hits) is hits
    assert canonical(()) == ()


def test_of_a_repeated_id_the_highest_score_is_kept_in_either_order() -> None:
    expected = (Hit("a", 5.0), Hit("b", 3.0))
    assert canonical([Hit("a", 1.0), Hit("b", 3.0), Hit("a", 5.0)]) == canonical([Hit("a", 5.0), Hit("b", 3.0), Hit("a", 1.0)]) == expected
    assert canonical([Hit("a", 5.0), Hit("b", 3.0), Hit("a", 1.0)]) == (Hit("a", 5.0), Hit("b", 3.0))


def test_scores_are_told_apart_in_float64() -> None:
    assert ids(canonical([Hit("a", 16777216.0), Hit("b", 16777217.0)])) == "ba"
    assert ids(canonical([Hit("a", 1.0000000001), Hit("b", 1.0000000002)])) == "ba"


def test_scores_of_other_number_types_become_float64() -> None:
    hits = canonical([Hit("a", np.float32(0.5)), Hit("b", 2)])  # pyright: ignore[reportArgumentType]
    assert [type(hit.score) for hit in hits] == [float, float]
    assert ids(hits) == "ba"


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, np.float32("nan"), None, "0.5"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_score_that_is_no_finite_number_is_refused_by_name(score: float, place: int) -> None:
    hits = [Hit("d1", 3.0), Hit("d3", 1.0)]
    hits.insert(place, Hit("d2", score))
    with pytest.raises(InputError, match=r"^query q7: .*'d2'"):
        canonical(hits, "q7")


def test_a_nan_hidden_in_a_repeat_is_refused() -> None:
    with pytest.raises(InputError, match="'a'"):
        canonical([Hit("a", 1.0), Hit("a", math.nan)])


def test_every_judged_query_has_a_ranking() -> None:
    run = {"q2": [Hit("a", 1.0)], "q9": [Hit("a", 1.0)]}
    assert canonical_run({"q2": {"a": 1}, "q1": {"a": 1}}, run) == {"q1": (), "q2": (Hit("a", 1.0),)}


def test_self_hits_are_left_out_of_a_copy() -> None:
    run = {"a": [Hit("a", 2.0), Hit("b", 1.0)]}
    assert without_self_hits(run) == {"a": (Hit("b", 1.0),)}
    assert run == {"a": [Hit("a", 2.0), Hit("b", 1.0)]}


def test_a_matrix_is_put_in_the_same_order() -> None:
    documents = np.array([[2, 0, 1, -1], [3, 1, 2, 0], [5, 4, -1, -1], [-1, 6, -1, 7]], np.int64)
    scores = np.array([[3, 2, 2, np.nan], [1, 1, 2, 0.5], [1, 1, 9, 9], [0, 1, 0, 2]], np.float32)
    expected = [[2, 0, 1, -1], [2, 1, 3, 0], [4, 5, -1, -1], [7, 6, -1, -1]]
    assert canonical_matrix(documents, scores).tolist() == expected
    assert documents[0].tolist() == [2, 0, 1, -1]


def test_a_matrix_with_a_score_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match=r"^row 1: .*document 4"):
        canonical_matrix(np.array([[1, 2], [3, 4]]), np.array([[2.0, 1.0], [2.0, math.nan]]))
    with pytest.raises(InputError, match="shape"):
        canonical_matrix(np.array([[1, 2]]), np.array([[1.0]]))
