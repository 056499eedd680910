"""What a question says about time, as a period: "last week", "before 5 March", "between May 2024 and 2024-07-01"."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBERS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_NUMBER = rf"\d{{1,4}}|an?|{'|'.join(_NUMBERS)}"
_ORDINAL = r"(?:st|nd|rd|th)?"
_EXPRESSION = re.compile(
    "|".join(
        (
            r"\b(?P<iso_year>\d{4})-(?P<iso_month>\d\d)(?:-(?P<iso_day>\d\d))?\b",
            rf"\b(?:(?P<day_before>\d{{1,2}}){_ORDINAL} (?:of )?)?(?P<month>{_MONTH})\b\.?"
            rf"(?: (?P<day_after>\d{{1,2}}){_ORDINAL}\b)?(?:,? (?P<year>\d{{4}})\b)?",
            r"\b(?P<bare_year>(?:19|20)\d\d)\b",
            r"\b(?i:(?P<near>today|yesterday))\b",
            r"\b(?i:(?P<which>last|past|previous|this) (?P<unit>hour|day|week|month|year|quarter))\b",
            rf"\b(?i:(?:last|past|previous) (?P<rolling>{_NUMBER}) (?P<rolling_unit>hour|day|week|month|year)s?)\b",
            rf"\b(?i:(?P<count>{_NUMBER}) (?P<ago_unit>hour|day|week|month|year)s? ago)\b",
            rf"\b(?P<last>(?i:last) )?(?P<weekday>{'|'.join(_DAYS)})\b",
        )
    )
)
_LEAD = re.compile(
    r"\b(before|prior to|earlier than|until|till|by|up to|after|later than|since|from|between|and|to|in|on|during|of|of last)"
    r"(?: (?:the|early|mid|late))?\s*$",
    re.IGNORECASE,
)
_ENDS = {"before": "start", "prior to": "start", "earlier than": "start", "until": "end", "till": "end", "by": "end", "up to": "end"}
_BEGINS = {"after": "end", "later than": "end", "since": "start", "from": "start", "between": "start"}


class Period(NamedTuple):
    """From `start` up to and without `end`; None leaves that side open."""

    start: datetime | None = None
    end: datetime | None = None

    def intersected(self, other: Period) -> Period:
        """Return what both cover."""
        starts = [p.start for p in (self, other) if p.start]
        ends = [p.end for p in (self, other) if p.end]
        return Period(max(starts, default=None), min(ends, default=None))


def period(text: str, now: datetime) -> Period | None:
    """Return the period that an English `text` speaks of, seen from `now` and in its zone; None when it speaks of none.

    "Last week", "last month" and "last year" are the calendar's, weeks from Monday; "past week" and "last 7 days" end now. A
    month without a year is its last beginning before `now`. Several expressions narrow each other.
    """
    found: Period | None = None
    opened = False
    for match in _EXPRESSION.finditer(text):
        lead = _LEAD.search(text[: match.start()])
        word = lead.group(1).lower() if lead else ""
        if not word and _is_bare(match):
            continue  # "May I", "port 2000": no more than a word that happens to look like a time
        span = _span(match, now)
        if span is None:
            continue
        part = _directed(span, "until" if opened and word in ("and", "to") else word)
        opened = word in ("between", "from")
        found = part if found is None else found.intersected(part)
    return found


def _is_bare(match: re.Match[str]) -> bool:
    """Whether it is a month, a year or a weekday without anything that dates it."""
    if match["month"]:
        return not (match["day_before"] or match["day_after"] or match["year"])
    return bool(match["bare_year"] or (match["weekday"] and not match["last"]))


def _directed(span: Period, word: str) -> Period:
    if word in _ENDS:
        return Period(None, getattr(span, _ENDS[word]))
    if word in _BEGINS:
        return Period(getattr(span, _BEGINS[word]), None)
    return span


def _span(match: re.Match[str], now: datetime) -> Period | None:
    """Return what the expression itself covers; None for a date that the calendar does not have."""
    try:
        if match["iso_year"]:
            return _date(int(match["iso_year"]), int(match["iso_month"]), int(match["iso_day"] or 0), now.tzinfo)
        if match["month"]:
            return _named(match, now)
        if match["bare_year"]:
            return _unit(datetime(int(match["bare_year"]), 1, 1, tzinfo=now.tzinfo), "year")
        if match["near"]:
            return _unit(_back(now, 0 if match["near"].lower() == "today" else 1, "day"), "day")
        if match["which"]:
            return _which(match["which"].lower(), match["unit"].lower(), now)
        if match["rolling"]:
            return Period(_back(now, _number(match["rolling"]), match["rolling_unit"].lower()), _after(now))
        if match["count"]:
            unit = match["ago_unit"].lower()
            return _unit(_back(now, _number(match["count"]), unit), unit)
        behind = (now.weekday() - _DAYS.index(match["weekday"])) % 7 or 7
        return _unit(_back(now, behind, "day"), "day")
    except (ValueError, OverflowError):
        return None


def _named(match: re.Match[str], now: datetime) -> Period:
    month = next(i for i, name in enumerate(_MONTHS, 1) if match["month"][:3] == name[:3])
    day = int(match["day_before"] or match["day_after"] or 0)
    year = int(match["year"]) if match["year"] else now.year - (datetime(now.year, month, day or 1, tzinfo=now.tzinfo) > now)
    return _date(year, month, day, now.tzinfo)


def _date(year: int, month: int, day: int, zone: tzinfo | None) -> Period:
    return _unit(datetime(year, month, day or 1, tzinfo=zone), "day" if day else "month")


def _which(word: str, unit: str, now: datetime) -> Period:
    if word == "past":
        return Period(_back(now, 1, unit), _after(now))
    this = _unit(now, unit)
    return this if word == "this" or this.start is None else _unit(_back(this.start, 1, unit), unit)


def _unit(moment: datetime, unit: str) -> Period:
    """Return the calendar unit that holds `moment`."""
    start = moment.replace(minute=0, second=0, microsecond=0)
    if unit == "hour":
        return Period(start, start + timedelta(hours=1))
    start = start.replace(hour=0)
    if unit == "day":
        return Period(start, start + timedelta(days=1))
    if unit == "week":
        start -= timedelta(days=start.weekday())
        return Period(start, start + timedelta(weeks=1))
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    start = start.replace(day=1, month=(start.month - 1) // months * months + 1)
    return Period(start, _back(start, -months, "month"))


def _back(moment: datetime, number: int, unit: str) -> datetime:
    """Go back by calendar units; the 31st becomes the last day of a shorter month."""
    if unit in ("hour", "day", "week"):
        return moment - timedelta(**{f"{unit}s": number})
    months = moment.year * 12 + moment.month - 1 - number * {"month": 1, "quarter": 3, "year": 12}[unit]
    first = moment.replace(year=months // 12, month=months % 12 + 1, day=1)
    following = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
    return first.replace(day=min(moment.day, (following - timedelta(days=1)).day))


def _after(now: datetime) -> datetime:
    return now + timedelta(microseconds=1)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 1 if text.lower() == "an" else max(1, _NUMBERS.index(text.lower()))
