"""The temporal filter: dates and events that a question names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.stages.temporal import TemporalFilter

START = datetime(2026, 1, 5, tzinfo=UTC)  # a Monday
TITLES = ("Prices as floats", "Migrated to PostgreSQL", "Notes on the migration to PostgreSQL", "Prices in cents")
CORPUS = Corpus.of(
    Observation(id=f"o{i}", session_id="s", timestamp=START + timedelta(days=7 * i), type="note", title=title)
    for i, title in enumerate(TITLES)
)
ALL = [3, 0, 2, 1]


def kept(text: str, *, asked_at: datetime | None = None, events: bool = True, question: Question | None = None) -> list[int]:
    asked = question or Question(text, asked_at, CORPUS.visible(asked_at))
    return TemporalFilter(events).apply(Candidates(np.array(ALL), np.linspace(1, 0.1, 4)), asked, CORPUS, 4).rows.tolist()


def test_a_question_without_time_keeps_everything() -> None:
    assert kept("how are prices kept?") == ALL


def test_a_period_is_seen_from_the_newest_observation() -> None:
    assert kept("prices last week") == [2]
    assert kept("prices before 2026-01-19") == [0, 1]


def test_a_period_is_seen_from_when_the_question_was_asked() -> None:
    assert kept("prices last week", asked_at=START + timedelta(days=15)) == [1]


def test_yesterday_is_the_askers() -> None:
    moment = START + timedelta(days=14, hours=12)  # of row 2 half a day before, which five hours to the west was the day before
    assert kept("yesterday", asked_at=moment.astimezone(timezone(timedelta(hours=-5)))) == [2]
    assert kept("yesterday", asked_at=moment) == ALL


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("how were prices kept before the migration to PostgreSQL?", [0, 1]),
        ("what changed after migrating to PostgreSQL?", [3, 2, 1]),
        ("since we migrated to PostgreSQL, what changed?", [3, 2, 1]),
    ],
)
def test_an_event_is_dated_by_the_first_title_that_has_its_terms_and_belongs_to_both_sides(text: str, rows: list[int]) -> None:
    assert kept(text) == rows


def test_a_period_that_holds_nothing_filters_nothing_and_says_so() -> None:
    question = Question("what did we do in 2019?")
    assert kept("", question=question) == ALL
    assert question.trace.notes == ["not filtered by time: nothing lies in the period"]


def test_events_can_be_left_alone() -> None:
    assert kept("before the migration to PostgreSQL", events=False) == ALL


def test_an_event_that_no_title_names_filters_nothing_and_says_so() -> None:
    question = Question("before the flood")
    assert kept("", question=question) == ALL
    assert question.trace.notes == ["not filtered by time: no title names the event"]


def test_an_event_that_had_not_been_remembered_when_asked_dates_nothing() -> None:
    assert kept("before the migration to PostgreSQL", asked_at=START + timedelta(days=1)) == ALL
