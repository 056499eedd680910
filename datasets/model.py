"""What is searched and asked: observations, queries, and the data set that holds both."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timezone
from functools import cached_property
from typing import Any

from .errors import InputError
from .packed import packed

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The timestamp of an observation whose source carries none."""

_NOT_IN_AN_ID = re.compile(r"[\s\x00-\x1f\x7f]")


def check_id(identifier: str, what: str = "id") -> None:
    """Raise `InputError` unless `identifier` can stand in a TREC file: not empty, no white space or control character."""
    if not identifier:
        raise InputError(f"the {what} is empty", remedy="give every record an id of its own")
    if _NOT_IN_AN_ID.search(identifier):
        raise InputError(f"the {what} {identifier!r} has white space or a control character in it", remedy="replace it by '_'")


def _check_time(moment: datetime, what: str) -> None:
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InputError(f"the {what} {moment.isoformat()} has no time zone", remedy="append 'Z' for UTC")


HIGHEST_GRADE = 1000
"""Of a judgment: 2^1000 is still a float64, and so is the sum of a million such gains."""


@packed("title", "subtitle", "narrative", "facts", "concepts", "files")
@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One thing an agent remembered.

    Attributes:
        id: unique in the data set; no white space.
        timestamp: when it was remembered; aware, kept in UTC.
        importance: 1 (trivial) to 10 (vital).
        scope: the conversation or haystack it belongs to; a query searches its own scope alone.
        superseded_by: the id of the later observation that made this one untrue, if any.

    Raises:
        InputError: the id cannot stand in a TREC file, the time has no zone, or the importance is out of range.
    """

    id: str
    session_id: str
    timestamp: datetime
    type: str
    title: str
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    importance: int = 5
    scope: str = ""
    superseded_by: str | None = None

    def __post_init__(self) -> None:
        check_id(self.id, "observation id")
        _check_time(self.timestamp, "timestamp")
        object.__setattr__(self, "timestamp", self.timestamp.astimezone(UTC))
        if not 1 <= self.importance <= 10:
            raise InputError(f"importance {self.importance} is not in 1–10")

    def as_record(self) -> dict[str, Any]:
        """Return the observation as JSON-ready values, in field order, the time in ISO 8601."""
        return _as_record(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question, with what answers it.

    Attributes:
        relevant: observation id → grade ≥ 1; empty for an unanswerable query.
        irrelevant: ids that were judged, and do not answer it; files have them among `relevant` with the grade 0.
        asked_at: nothing remembered later may be returned; aware, kept with its offset from UTC, since "yesterday" is the asker's.
        tags: free marks, such as ``core``.
        group: queries of one group hang together, as those about one conversation do, and are one unit of chance; "": by itself.

    Raises:
        InputError: a grade below 1, an id that is both relevant and irrelevant or cannot stand in a TREC file, or a time without a zone.
    """

    id: str
    text: str
    category: str = ""
    relevant: Mapping[str, int] = field(default_factory=dict)
    scope: str = ""
    asked_at: datetime | None = None
    tags: tuple[str, ...] = ()
    group: str = ""
    irrelevant: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_id(self.id, "query id")
        if both := sorted(self.relevant.keys() & set(self.irrelevant)):
            raise InputError(f"{both[0]!r} is judged relevant and irrelevant", where=f"query {self.id}", remedy="keep one of the two")
        for observation_id, grade in self.relevant.items():
            if grade < 1:
                raise InputError(f"grade {grade} of {observation_id!r} is below 1", where=f"query {self.id}", remedy="leave it out")
            if grade > HIGHEST_GRADE:
                what = f"grade {grade} of {observation_id!r} is above {HIGHEST_GRADE}"
                raise InputError(what, where=f"query {self.id}", remedy="use a smaller scale")
        if self.asked_at is not None:
            _check_time(self.asked_at, "asked_at")
            object.__setattr__(self, "asked_at", _at_offset(self.asked_at))

    @property
    def answerable(self) -> bool:
        """Whether anything in the data set answers it."""
        return bool(self.relevant)

    @property
    def judgments(self) -> Mapping[str, int]:
        """Observation id → grade of everything that was judged; 0 for what does not answer it."""
        return {**self.relevant, **dict.fromkeys(self.irrelevant, 0)} if self.irrelevant else self.relevant

    def as_record(self) -> dict[str, Any]:
        """Return the query as JSON-ready values, in field order, the time in ISO 8601; without a group that there is not.

        `relevant` has all judgments, so that what reads it finds the irrelevant ones by their grade of 0.
        """
        values = {**_as_record(self), "relevant": dict(sorted(self.judgments.items()))}
        del values["irrelevant"]
        if not self.group:
            del values["group"]
        return values


@dataclass(frozen=True)
class Dataset:
    """Observations and the queries asked of them. Ids are unique in each of the two.

    Attributes:
        notes: what whoever reads the scores should know of how it was read; no part of what it is.
    """

    name: str
    observations: tuple[Observation, ...]
    queries: tuple[Query, ...]
    licence: str = ""
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        _check_unique((o.id for o in self.observations), "observation", self.name)
        _check_unique((q.id for q in self.queries), "query", self.name)

    @classmethod
    def from_frames(
        cls,
        memories: Any,
        questions: Any,
        *,
        relevant: Any = None,
        columns: Mapping[str, str] | None = None,
        separator: str = "",
        name: str = "memories",
        licence: str = "",
    ) -> Dataset:
        """Make a data set of two data frames, of pandas or polars.

        Args:
            memories: a row a memory, with at least an id and a text; times without a zone are UTC.
            questions: a row a question, with its text and the ids of what answers it: a list, a mapping to grades, or text with separators.
            relevant: the column of the questions that names these ids, or a frame of judgments (question, memory, grade); None: told.
            columns: what is read of a memory (id, text, title, time, session, type, scope, importance, superseded_by) → its column, where
                that has no usual name.
            separator: what stands between the ids of one cell; "" for any of comma, semicolon, bar and white space.

        Raises:
            InputError: a column that is needed or named is not there, or a row that can't be read; its place is named.
        """
        from .assembly import load
        from .formats.table import understood
        from .tables import read_frame

        column = relevant if isinstance(relevant, str) else None
        judged = None if relevant is None or column else read_frame(relevant, "relevant")
        found = understood(read_frame(memories, "memories"), read_frame(questions, "questions"), judged, columns, column, separator)
        return load(found.read, name=name, licence=licence)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over the canonical form of its records."""
        observations, queries = (sorted(records, key=lambda r: r.id) for records in (self.observations, self.queries))
        return fingerprint_of((o.as_record() for o in observations), (q.as_record() for q in queries))


def fingerprint_of(observations: Iterable[Mapping[str, Any]], queries: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 (hex) over one JSON line a record, observations then queries, each given in the order of ids."""
    digest = hashlib.sha256()
    for records in (observations, queries):
        for record in records:
            line = json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
            digest.update(line.encode("ascii") + b"\n")
        digest.update(b"--\n")
    return digest.hexdigest()


def by_relevance(grades: Mapping[str, int]) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return what of the judgments of one query is relevant, with its grade, and the ids of what is not, sorted."""
    return {i: grade for i, grade in grades.items() if grade >= 1}, tuple(sorted(i for i, grade in grades.items() if grade < 1))


def moment(asked_at: datetime | None) -> str | None:
    """Return what tells one time of asking from another: the instant and its offset, since "today" is another day elsewhere."""
    return None if asked_at is None else asked_at.isoformat()


def _at_offset(moment: datetime) -> datetime:
    """Return the same time on the same clock, its zone no more than an offset, as a file keeps it."""
    offset = moment.utcoffset()
    return moment.replace(tzinfo=timezone(offset) if offset else UTC, fold=0)


def _as_record(record: Observation | Query) -> dict[str, Any]:
    values = {}
    for f in fields(record):
        value = getattr(record, f.name)
        if isinstance(value, datetime):
            value = value.isoformat()
        elif isinstance(value, tuple):
            value = list(value)
        elif isinstance(value, Mapping):
            value = dict(sorted(value.items()))
        values[f.name] = value
    return values


def _check_unique(identifiers: Iterable[str], what: str, name: str) -> None:
    seen: set[str] = set()
    for identifier in identifiers:
        if identifier in seen:
            raise InputError(
                f"{what} id {identifier!r} occurs twice", where=f"data set {name}", remedy="give every record an id of its own"
            )
        seen.add(identifier)
