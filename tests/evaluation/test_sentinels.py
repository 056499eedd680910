"""Every breach of the retriever's contract is found by name, and repaired without touching the rest."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from recallmeter.datasets.model import Query
from recallmeter.evaluation.sentinels import inspect
from recallmeter.retrieval.ranking import Hit

SCOPES = {"a": "s", "b": "s", "c": "s", "x": "other"}
TIMES = dict.fromkeys(SCOPES, datetime(2024, 1, 1, tzinfo=UTC)) | {"c": datetime(2024, 6, 1, tzinfo=UTC)}
QUERY = Query(id="q", text="?", scope="s", asked_at=datetime(2024, 3, 1, tzinfo=UTC))


def faults(*hits: tuple[str, float], k: int = 3):
    return inspect([Hit(*hit) for hit in hits], QUERY, k, scopes=SCOPES, times=TIMES)


@pytest.mark.parametrize(
    ("hits", "k", "name", "example", "kept"),
    [
        ([("a", 2.0), ("b", 1.0)], 1, "more than k", "2 for k = 1", ["a"]),
        ([("a", 2.0), ("nope", 1.0)], 3, "unknown id", "'nope'", ["a"]),
        ([("a", 2.0), ("a", 2.0), ("b", 1.0)], 3, "id twice", "'a' again at rank 2", ["a", "b"]),
        ([("a", 2.0), ("b", float("nan"))], 3, "score not finite", "'b' at nan", ["a"]),
        ([("a", float("inf")), ("b", 1.0)], 3, "score not finite", "'a' at inf", ["b"]),
        ([("a", 1.0), ("b", 2.0)], 3, "scores out of order", "'b' at 2 comes after 'a' at 1", ["b", "a"]),
        ([("x", 2.0), ("b", 1.0)], 3, "other scope", "'x' of 'other', asked in 's'", ["b"]),
        ([("a", 2.0), ("c", 1.0)], 3, "later than asked", "'c' of 2024-06-01T00:00:00+00:00", ["a"]),
    ],
)
def test_each_breach_is_named_shown_and_repaired(hits, k, name, example, kept):
    found = faults(*hits, k=k)
    assert found.names == (name,)
    assert example in str(found)
    assert [hit.id for hit in found.repaired(())] == kept


def test_a_sound_answer_has_no_fault_and_comes_back_as_it_is():
    hits = [Hit("b", 1.0), Hit("a", 1.0)]
    found = inspect(hits, QUERY, 3, scopes=SCOPES, times=TIMES)
    assert not found
    assert found.repaired(hits) is hits


def test_several_breaches_at_once_are_all_named():
    found = faults(("nope", float("nan")), ("nope", 3.0), ("x", 2.0), ("c", 1.0), ("a", 1.0), ("b", 5.0), k=4)
    assert set(found.names) == {
        "more than k",
        "score not finite",
        "id twice",
        "unknown id",
        "other scope",
        "later than asked",
        "scores out of order",
    }
    assert [hit.id for hit in found.repaired(())] == ["b", "a"]


def test_the_cut_comes_after_the_repairs():
    found = faults(("nope", 9.0), ("a", 2.0), ("b", 1.0), k=2)
    assert [hit.id for hit in found.repaired(())] == ["a", "b"]
