"""Time-aware metrics: what is no longer true, and what could not be known yet."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation, Query
from recallmeter.evaluation.measures.temporal import TimeScores, time_scores
from recallmeter.retrieval.ranking import Hit

START = datetime(2026, 1, 1, tzinfo=UTC)
SUPERSEDED = {"old": "mid", "mid": "new"}
MEMORY = {
    name: Observation(id=name, session_id="s", timestamp=START + timedelta(days=day), type="", title="", superseded_by=SUPERSEDED.get(name))
    for day, name in enumerate(("old", "mid", "new", "other"))
}


def asked(relevant: str, found: str, *, day: int | None = None, k: int = 3) -> TimeScores:
    moment = None if day is None else START + timedelta(days=day)
    query = Query(id="q", text="", relevant=dict.fromkeys(relevant.split(), 1), asked_at=moment)
    return time_scores([query], MEMORY, {"q": [Hit(name, -float(rank)) for rank, name in enumerate(found.split())]}, k)


@pytest.mark.parametrize(
    ("relevant", "found", "stale"),
    [
        ("new", "new old", 0.0),
        ("new", "old new", 1.0),
        ("new", "old other", 1.0),
        ("new", "new other", 0.0),
        ("new", "", 0.0),
        ("new", "other x y old", 0.0),
        ("new", "mid new old", 1.0),
        ("mid", "mid old", 0.0),
        ("mid", "old mid", 1.0),
        ("new mid", "mid new", 0.0),
        ("other", "old mid", math.nan),
        ("old", "old new", math.nan),
        ("", "old", math.nan),
    ],
)
def test_stale_is_what_was_superseded_above_its_successor(relevant: str, found: str, stale: float) -> None:
    assert asked(relevant, found).stale[0] == pytest.approx(stale, nan_ok=True)


def test_what_is_superseded_only_later_is_not_stale_yet() -> None:
    assert math.isnan(asked("new", "old new", day=1).stale[0])
    assert asked("mid", "old mid", day=1).stale[0] == 1.0


def test_future_leaks_are_counted_in_the_whole_list() -> None:
    assert asked("old", "new old mid other", day=1, k=1).future_leaks[0] == 2.0
    assert asked("old", "old", day=0).future_leaks[0] == 0.0
    assert math.isnan(asked("old", "new other").future_leaks[0])


def test_as_of_recall_is_over_what_existed() -> None:
    assert asked("old other", "old", day=1).as_of_recall[0] == 1.0
    assert asked("old other", "old", day=3).as_of_recall[0] == 0.5
    assert asked("old mid", "x y z old", day=3).as_of_recall[0] == 0.0
    assert math.isnan(asked("other", "other", day=0).as_of_recall[0])


def test_queries_are_sorted_and_a_missing_one_found_nothing() -> None:
    queries = [Query(id=name, text="", relevant={"new": 1}) for name in ("q2", "q1")]
    scores = time_scores(queries, MEMORY, {"q2": [Hit("old", 1.0)]})
    assert scores.query_ids == ("q1", "q2")
    assert (scores.stale.tolist(), scores.as_of_recall.tolist()) == ([0.0, 1.0], [0.0, 0.0])


def test_a_circle_of_supersession_is_refused() -> None:
    circle = {
        name: Observation(id=name, session_id="s", timestamp=START, type="", title="", superseded_by=other)
        for name, other in (("a", "b"), ("b", "a"))
    }
    with pytest.raises(InputError, match="supersedes itself"):
        time_scores([Query(id="q", text="", relevant={"a": 1})], circle, {})
