"""The inverted index, and the best of a score for every row."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.retrieval.indexes.postings import Postings
from recallmeter.retrieval.topk import top_k


def test_postings_hold_every_term_with_its_rows_and_counts() -> None:
    postings = Postings.of([["b", "a", "b"], [], ["ab", "b"]])
    assert postings.vocabulary == ["a", "ab", "b"]
    assert postings.offsets.tolist() == [0, 1, 2, 4]
    assert postings.rows.tolist() == [0, 2, 0, 2]
    assert postings.counts.tolist() == [1, 1, 2, 1]
    assert postings.lengths.tolist() == [3, 0, 2]
    assert postings.frequencies().tolist() == [1, 1, 2]
    assert [postings.holders(term).tolist() for term in ("b", "a", "c", "", "aa")] == [[0, 2], [0], [], [], []]


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_without_terms_there_are_no_postings(rows: list[list[str]]) -> None:
    postings = Postings.of(rows)
    assert len(postings) == len(rows)
    assert postings.vocabulary == []
    assert postings.offsets.tolist() == [0]
    assert postings.beginning_with("a") == (0, 0)


def test_terms_of_one_prefix_are_neighbours_and_the_prefix_itself_is_the_first() -> None:
    postings = Postings.of([["cache", "cached", "cac", "caching", "cachet\U0010fffe", "cb"]])
    first, last = postings.beginning_with("cache")
    assert postings.vocabulary[first:last] == ["cache", "cached", "cachet\U0010fffe"]
    assert postings.beginning_with("zz") == (6, 6)


@pytest.mark.parametrize("rows", [1, 5, 64, 640, 1281, 5000])
@pytest.mark.parametrize("k", [1, 10, 20])
def test_the_best_rows_are_those_a_full_sort_finds(rows: int, k: int) -> None:
    chance = np.random.default_rng(rows + k)
    for density in (0.001, 0.1, 1.0):
        scores = np.round(chance.random(rows) * (chance.random(rows) < density), 2)  # rounded, so that there are ties
        expected = [row for row in np.lexsort((np.arange(rows), -scores)) if scores[row] > 0][:k]
        found = top_k(scores, k)
        assert found.rows.tolist() == expected
        assert found.scores.tolist() == scores[expected].tolist()


def test_nothing_matches_and_nothing_is_asked_for() -> None:
    assert len(top_k(np.zeros(5000), 10)) == 0
    assert len(top_k(-np.ones(5000), 10)) == 0
    assert len(top_k(np.ones(5000), 0)) == 0
    assert len(top_k(np.empty(0), 5)) == 0
