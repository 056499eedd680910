"""The fields of a raw record: each value of its type, each fault with the record's place."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from .errors import InputError
from .faults import BAD_GRADE, BAD_ID, BAD_VALUE, FIELD_NOT_READ, MISSING_FIELD, Faults, Judgment, Kind, Placed
from .model import HIGHEST_GRADE, Observation, Query, check_id

Record = TypeVar("Record", Observation, Query)
Parser = Callable[[Any], Any]
"""Takes a JSON value and returns what the model holds; raises `ValueError` with what is needed instead."""


@dataclass(frozen=True)
class Shape:
    """The fields that a raw record may have, each with its parser, and those that it must have."""

    fields: Mapping[str, Parser]
    required: frozenset[str]
    unknown: Kind = FIELD_NOT_READ

    def parse(self, raw: Mapping[str, Any], where: str, faults: Faults) -> dict[str, Any] | None:
        """Return the record's values by field; None when it cannot be used."""
        values: dict[str, Any] = {}
        usable = True
        for name, value in raw.items():
            parser = self.fields.get(name)
            if parser is None:
                if self.unknown is not FIELD_NOT_READ or value not in (None, "", [], {}):
                    faults.report(self.unknown, where, f"the field {name!r} is not one of {', '.join(self.fields)}", variant=name)
                continue
            try:
                values[name] = parser(value)
            except (ValueError, OverflowError) as error:
                faults.report(BAD_VALUE, where, f"the field {name!r} is {_short(value)}: {error}", variant=name)
                usable = False
        if missing := sorted(self.required - raw.keys()):
            faults.report(MISSING_FIELD, where, f"the field {missing[0]!r} is missing", variant=missing[0])
            usable = False
        return values if usable else None


def construct(kind: type[Record], values: Mapping[str, Any], where: str, faults: Faults) -> Record | None:
    """Return the model's record; None when the model refuses it."""
    try:
        check_id(values["id"], f"{kind.__name__.lower()} id")
    except InputError as error:
        faults.report(BAD_ID, where, error.what)
        return None
    try:
        return kind(**values)
    except (InputError, OverflowError) as error:
        faults.report(BAD_VALUE, where, error.what if isinstance(error, InputError) else str(error))
        return None


def judge(query: str, observation: Any, value: Any, where: str, faults: Faults) -> Iterator[Placed]:
    """Yield the judgment; nothing when an id or the grade cannot be used."""
    try:
        check_id(query, "query id")
        check_id(text(observation), "judged id")
    except ValueError as error:
        faults.report(BAD_ID, where, error.what if isinstance(error, InputError) else f"the judged id {_short(observation)}: {error}")
        return
    if (number := grade(value, where, faults)) is not None:
        yield Placed(where, Judgment(query, observation, number))


def grade(value: Any, where: str, faults: Faults) -> int | None:
    """Return a judgment's grade, given as a number or as text; None when it is not a whole number."""
    try:
        if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
            raise ValueError
        number = float(value)
        if not (math.isfinite(number) and number.is_integer() and abs(number) < 1e9):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        faults.report(BAD_GRADE, where, f"the grade {_short(value)} is not a whole number")
        return None
    if number > HIGHEST_GRADE:
        faults.report(BAD_GRADE, where, f"the grade {_short(value)} is above {HIGHEST_GRADE}, the highest that gains are computed of")
        return None
    return int(number)


def text(value: Any) -> str:
    """Take a string."""
    if not isinstance(value, str):
        raise ValueError("a string is needed")
    return value


def label(value: Any) -> str:
    """Take a string that many records share; equal ones are kept in memory once."""
    return sys.intern(text(value))


def labels(value: Any) -> tuple[str, ...]:
    """Take a list of strings that many records share."""
    return tuple(map(sys.intern, texts(value)))


def texts(value: Any) -> tuple[str, ...]:
    """Take a list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of strings is needed")
    return tuple(value)


def items(value: Any) -> list[Any]:
    """Take a list of anything."""
    if not isinstance(value, list):
        raise ValueError("a list is needed")
    return value


def text_or_null(value: Any) -> str:
    """Take a string, or null for none."""
    return "" if value is None else text(value)


def id_or_null(value: Any) -> str | None:
    """Take an id, or null for none."""
    return None if value is None else text(value)


def whole(value: Any) -> int:
    """Take a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("a whole number is needed")
    return value


def time(value: Any) -> datetime:
    """Take a time in ISO 8601."""
    try:
        return datetime.fromisoformat(text(value))
    except ValueError:
        raise ValueError("a time in ISO 8601 with its zone is needed, such as 2026-03-01T09:30:00Z") from None


def time_or_null(value: Any) -> datetime | None:
    """Take a time in ISO 8601, or null for none."""
    return None if value is None else time(value)


def anything(value: Any) -> Any:
    """Take any value, for a field that is known and not read."""
    return value


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 60 else f"{told[:57]}…"
