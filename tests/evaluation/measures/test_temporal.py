"""Time-aware metrics: what is no longer true, and what could not be known yet."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation, Query
from recallmeter.evaluation.measures.gains import Context
from recallmeter.evaluation.measures.grammar import parse_measure
from recallmeter.evaluation.measures.metrics import Scores, ceilings, score, tie_interval
from recallmeter.retrieval.ranking import Hit

START = datetime(2026, 1, 1, tzinfo=UTC)
SUPERSEDED = {"old": "mid", "mid": "new"}
MEMORY = {
    name: Observation(id=name, session_id="s", timestamp=START + timedelta(days=day), type="", title="", superseded_by=SUPERSEDED.get(name))
    for day, name in enumerate(("old", "mid", "new", "other"))
}


def measured(measure: str, queries: list[Query], run: dict[str, list[Hit]], memory: dict[str, Observation] | None = None) -> Scores:
    context = Context({query.id: query for query in queries}, memory or MEMORY)
    return score({query.id: query.relevant for query in queries}, run, [parse_measure(measure)], context)


def question(relevant: str, day: int | None = None) -> Query:
    moment = None if day is None else START + timedelta(days=day)
    return Query(id="q", text="", relevant=dict.fromkeys(relevant.split(), 1), asked_at=moment)


def asked(measure: str, relevant: str, found: str, *, day: int | None = None) -> float:
    hits = [Hit(name, -float(rank)) for rank, name in enumerate(found.split())]
    return measured(measure, [question(relevant, day)], {"q": hits}).values[measure][0]


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
    assert asked("stale@3", relevant, found) == pytest.approx(stale, nan_ok=True)


def test_what_is_superseded_only_later_is_not_stale_yet() -> None:
    assert math.isnan(asked("stale@3", "new", "old new", day=1))
    assert asked("stale@3", "mid", "old mid", day=1) == 1.0


def test_future_leaks_are_counted_in_the_whole_list() -> None:
    assert asked("future_leaks", "old", "new old mid other", day=1) == 2.0
    assert asked("future_leaks", "old", "old", day=0) == 0.0
    assert math.isnan(asked("future_leaks", "old", "new other"))


def test_as_of_recall_is_over_what_existed() -> None:
    assert asked("as_of_recall@3", "old other", "old", day=1) == 1.0
    assert asked("as_of_recall@3", "old other", "old", day=3) == 0.5
    assert asked("as_of_recall@3", "old mid", "x y z old", day=3) == 0.0
    assert math.isnan(asked("as_of_recall@3", "other", "other", day=0))


def test_the_ceiling_of_recall_as_of_then_counts_what_existed() -> None:
    query = question("old mid new other", day=1)
    best = ceilings({"q": query.relevant}, [parse_measure("as_of_recall@1")], context=Context({"q": query}, MEMORY))
    assert best["as_of_recall@1"].tolist() == [0.5]


def test_queries_are_sorted_and_a_missing_one_found_nothing() -> None:
    queries = [Query(id=name, text="", relevant={"new": 1}) for name in ("q2", "q1")]
    scores = measured("stale@10", queries, {"q2": [Hit("old", 1.0)]})
    assert scores.query_ids == ("q1", "q2")
    assert scores.values["stale@10"].tolist() == [0.0, 1.0]


def test_the_order_of_ties_decides_what_is_stale() -> None:
    query = question("new")
    run = {"q": [Hit("new", 1.0), Hit("old", 1.0)]}
    found = tie_interval({"q": query.relevant}, run, [parse_measure("stale@3")], Context({"q": query}, MEMORY))["stale@3"]
    assert [bound[0] for bound in found] == [1.0, 0.5, 0.0]
    assert found.tied.tolist() == [True]


def test_of_many_orders_some_are_drawn_and_drawn_alike_again() -> None:
    query = question("new")
    run = {"q": [Hit(name, 1.0) for name in ("new", "old", *"abcdefgh")]}
    one, other = (tie_interval({"q": query.relevant}, run, [parse_measure("stale@10")], Context({"q": query}, MEMORY)) for _ in range(2))
    assert [bound[0] for bound in one["stale@10"]] == [bound[0] for bound in other["stale@10"]]
    assert one["stale@10"].expected[0] == pytest.approx(0.5, abs=0.15)


def test_a_circle_of_supersession_is_refused() -> None:
    circle = {
        name: Observation(id=name, session_id="s", timestamp=START, type="", title="", superseded_by=other)
        for name, other in (("a", "b"), ("b", "a"))
    }
    with pytest.raises(InputError, match="supersedes itself"):
        measured("stale@10", [Query(id="q", text="", relevant={"a": 1})], {}, circle)


def test_what_judgments_alone_cannot_tell_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match=r"stale@10 looks at the memory itself.*ask for it in a run: measures=\[stale@10\]"):
        score({"q": {"a": 1}}, {}, [parse_measure("stale@10")])


def test_a_query_whose_retriever_raised_gets_the_worst() -> None:
    queries = [question("new"), Query(id="r", text=""), Query(id="s", text="")]
    context = Context({query.id: query for query in queries}, MEMORY, failed={"q", "r"})
    measures = [*map(parse_measure, ("stale@3", "silence", "recall@3"))]
    values = score({query.id: query.relevant for query in queries}, {}, measures, context).values
    assert values["stale@3"][0] == 1.0
    assert values["recall@3"][0] == 0.0
    assert values["silence"].tolist()[1:] == [0.0, 1.0]
