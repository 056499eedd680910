"""Controls: what each gives, and that only two of them learn the labels."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation, Query
from recallmeter.evaluation.audits.controls import Constant, Empty, Oracle, Random, Reversed
from recallmeter.retrieval.ranking import Control

START = datetime(2026, 1, 1, tzinfo=UTC)
MEMORY = [
    Observation(id=f"o{i}", session_id="s", timestamp=START + timedelta(hours=i), type="note", title=f"note {i}", scope="ab"[i % 2])
    for i in range(20)
]
QUERY = Query(id="q", text="which?", relevant={"o4": 1, "o6": 2, "o0": 1, "o3": 1}, scope="a")


def indexed(control):
    if isinstance(control, Control):
        control.reveal([QUERY])
    control.index(MEMORY)
    return control


def test_the_oracle_gives_what_is_relevant_in_its_scope_by_grade_and_nothing_else() -> None:
    oracle = indexed(Oracle())
    assert oracle.search("which?", 10, scope="a").ids == ("o6", "o0", "o4")
    assert oracle.search("which?", 1, scope="a").ids == ("o6",)
    assert oracle.search("something else", 10, scope="a").ids == ()
    assert oracle.search("which?", 10, scope="b").ids == ()


def test_labels_that_are_not_revealed_are_not_known() -> None:
    oracle = Oracle()
    oracle.index(MEMORY)
    assert oracle.search("which?", 10, scope="a").ids == ()


def test_the_same_question_twice_is_answered_by_either_label() -> None:
    oracle = Oracle()
    oracle.index(MEMORY)
    oracle.reveal([QUERY, Query(id="q2", text="which?", relevant={"o8": 3, "o6": 1}, scope="a")])
    assert oracle.search("which?", 10, scope="a").ids == ("o8", "o6", "o0", "o4")


def test_reversed_gives_the_best_last() -> None:
    ids = indexed(Reversed()).search("which?", 20, scope="a").ids
    assert ids[-3:] == ("o0", "o4", "o6")
    assert len(ids) == 10


def test_random_is_the_same_for_a_seed_whatever_was_asked_before() -> None:
    first, second = indexed(Random(1)), indexed(Random(1))
    second.search("another", 3, scope="a")
    assert first.search("which?", 5, scope="a") == second.search("which?", 5, scope="a")
    assert first.search("which?", 10, scope="a") != indexed(Random(2)).search("which?", 10, scope="a")
    assert first.search("which?", 10, scope="a").ids != first.search("what?", 10, scope="a").ids
    assert sorted(first.search("which?", 99, scope="a").ids) == sorted(o.id for o in MEMORY if o.scope == "a")


@pytest.mark.parametrize("control", [Random(), Constant(), Oracle(), Reversed(), Empty()], ids=lambda control: type(control).__name__)
def test_nothing_of_the_future_and_scores_fall(control) -> None:
    indexed(control)
    if isinstance(control, Control):
        control.reveal([QUERY, Query(id="past", text="which?", relevant=QUERY.relevant, scope="a", asked_at=START + timedelta(hours=4))])
    hits = control.search("which?", 10, scope="a", asked_at=START + timedelta(hours=4)).hits
    assert {hit.id for hit in hits} <= {"o0", "o2", "o4"}
    assert [hit.score for hit in hits] == sorted({hit.score for hit in hits}, reverse=True)
    assert control.search("which?", 0, scope="a").ids == ()
    assert control.search("which?", 5, scope="nowhere").ids == ()


def test_constant_and_empty_never_read_the_question() -> None:
    constant = indexed(Constant())
    assert constant.search("which?", 2, scope="a").ids == constant.search("", 2, scope="a").ids == ("o0", "o10")
    assert indexed(Empty()).search("which?", 10, scope="a").ids == ()


def test_a_seed_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="seed"):
        Random("seven")  # type: ignore[arg-type]


def test_questions_of_one_moment_and_two_offsets_are_two() -> None:
    """At one moment "yesterday" is another day elsewhere: what answers the one is no answer to the other."""
    start = datetime(2026, 3, 9, 15, tzinfo=UTC)
    memory = [Observation(id=i, session_id="s", timestamp=start + timedelta(hours=n), type="", title=i) for n, i in enumerate("ab")]
    asked = start + timedelta(days=1)
    here, there = asked, asked.astimezone(timezone(timedelta(hours=-5)))
    assert here == there
    queries = [
        Query(id="q1", text="yesterday", relevant={"a": 1}, asked_at=here),
        Query(id="q2", text="yesterday", relevant={"b": 1}, asked_at=there),
    ]
    oracle = Oracle()
    oracle.reveal(queries)
    oracle.index(memory)
    assert [[hit.id for hit in oracle.search("yesterday", 5, asked_at=when).hits] for when in (here, there)] == [["a"], ["b"]]
