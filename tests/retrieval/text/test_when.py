"""What a question says about time, seen from Wednesday 15 May 2024, 12:30 UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from recallmeter.retrieval.text.when import Period, period

NOW = datetime(2024, 5, 15, 12, 30, tzinfo=UTC)


def day(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what broke today?", "2024-05-15", "2024-05-16"),
        ("Yesterday's decisions", "2024-05-14", "2024-05-15"),
        ("what did we do last week?", "2024-05-06", "2024-05-13"),
        ("this week", "2024-05-13", "2024-05-20"),
        ("last month", "2024-04-01", "2024-05-01"),
        ("last quarter", "2024-01-01", "2024-04-01"),
        ("previous year", "2023-01-01", "2024-01-01"),
        ("3 days ago", "2024-05-12", "2024-05-13"),
        ("two weeks ago", "2024-04-29", "2024-05-06"),
        ("an hour ago", "2024-05-15T11:00", "2024-05-15T12:00"),
        ("a month ago", "2024-04-01", "2024-05-01"),
        ("last Monday", "2024-05-13", "2024-05-14"),
        ("on Wednesday", "2024-05-08", "2024-05-09"),
        ("on 2024-03-05", "2024-03-05", "2024-03-06"),
        ("in 2024-03", "2024-03-01", "2024-04-01"),
        ("in March", "2024-03-01", "2024-04-01"),
        ("in June", "2023-06-01", "2023-07-01"),
        ("during May", "2024-05-01", "2024-06-01"),
        ("March 5th, 2023", "2023-03-05", "2023-03-06"),
        ("the 5th of March 2023", "2023-03-05", "2023-03-06"),
        ("on Dec. 24", "2023-12-24", "2023-12-25"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("before 5 March", None, "2024-03-05"),
        ("prior to last week", None, "2024-05-06"),
        ("until March", None, "2024-04-01"),
        ("by 2024-02", None, "2024-03-01"),
        ("after March 5, 2024", "2024-03-06", None),
        ("since Tuesday", "2024-05-14", None),
        ("since the 5th of March", "2024-03-05", None),
        ("between May 2023 and 2024-03-01", "2023-05-01", "2024-03-02"),
        ("from April to May", "2024-04-01", "2024-06-01"),
        ("after 2024-01-01 but before 2024-02-01", "2024-01-02", "2024-02-01"),
    ],
)
def test_periods(text: str, start: str | None, end: str | None) -> None:
    assert period(text, NOW) == Period(day(start), day(end))


@pytest.mark.parametrize(("text", "start"), [("last 7 days", NOW - timedelta(days=7)), ("the past two weeks", NOW - timedelta(weeks=2))])
def test_rolling_periods_end_now_and_hold_this_very_moment(text: str, start: datetime) -> None:
    found = period(text, NOW)
    assert found is not None
    assert found.start == start
    assert found.end is not None
    assert NOW < found.end < NOW + timedelta(seconds=1)


@pytest.mark.parametrize(
    "text", ["", "May I ask", "how does the March of progress go", "port 2000", "the Monday meeting", "2024-13-40", "31 February", "a day"]
)
def test_no_period(text: str) -> None:
    assert period(text, NOW) is None


def test_the_31st_goes_back_to_the_last_day_of_a_shorter_month() -> None:
    found = period("past month", datetime(2024, 3, 31, tzinfo=UTC))
    assert found is not None
    assert found.start == day("2024-02-29")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("yesterday", "2026-03-09", "2026-03-10"),
        ("past month", "2026-02-10T21:30", None),
        ("last month", "2026-02-01", "2026-03-01"),
        ("on 2026-03-05", "2026-03-05", "2026-03-06"),
        ("on March 5", "2026-03-05", "2026-03-06"),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("a month ago", "2026-02-01", "2026-03-01"),
    ],
)
def test_a_calendar_is_that_of_the_zone_that_now_is_told_in(text: str, start: str, end: str | None) -> None:
    zone = timezone(timedelta(hours=-5))
    found = period(text, datetime(2026, 3, 10, 21, 30, tzinfo=zone))
    assert found is not None
    assert found.start == datetime.fromisoformat(start).replace(tzinfo=zone)
    if end is not None:
        assert found.end == datetime.fromisoformat(end).replace(tzinfo=zone)
