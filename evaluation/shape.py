"""What a stored record has to look like, so that whoever reads it can rely on every field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_KINDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", datetime: "a time in ISO 8601", dict: "an object"}


@dataclass(frozen=True)
class Maybe:
    """A value of a shape, or null."""

    shape: Any


@dataclass(frozen=True)
class Each:
    """An object of any names, with values of one shape."""

    shape: Any


def misfit(value: Any, shape: Any, place: str = "") -> str | None:
    """Return what is first found not to be as a shape says, with its place; None where all is.

    Args:
        shape: a type, or several; `Maybe` or `Each` of a shape; a list of one shape, for a list of such values, or of none, for any list;
            or a mapping of names to shapes, of which those that end in ``?`` may be missing. Other names may be there as well.
    """
    if isinstance(shape, Maybe):
        return None if value is None else misfit(value, shape.shape, place)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{place} is no list"
        inside = enumerate(value) if shape else ()
        return next((told for n, inner in inside if (told := misfit(inner, shape[0], f"{place}[{n}]"))), None)
    if isinstance(shape, Each | Mapping):
        if not isinstance(value, Mapping):
            return f"{place or 'it'} is no object"
        if isinstance(shape, Each):
            return next((told for name, inner in value.items() if (told := misfit(inner, shape.shape, f"{place}.{name}"))), None)
        for name, inner in shape.items():
            key = f"{place}.{name.rstrip('?')}".lstrip(".")
            if name.rstrip("?") not in value:
                if name.endswith("?"):
                    continue
                return f"{key} is missing"
            if told := misfit(value[name.rstrip("?")], inner, key):
                return told
        return None
    kinds = shape if isinstance(shape, tuple) else (shape,)
    return None if any(_is(value, kind) for kind in kinds) else f"{place} is {_short(value)}, not {' or '.join(_KINDS[k] for k in kinds)}"


def _is(value: Any, kind: type) -> bool:
    if kind is datetime:
        try:
            return datetime.fromisoformat(value).tzinfo is not None
        except (TypeError, ValueError):
            return False
    if isinstance(value, bool) and kind in (int, float):
        return False
    return isinstance(value, int | float if kind is float else kind)


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 40 else f"{told[:37]}…"
