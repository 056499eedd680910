"""How numbers are written, in sentences and tables alike: shares in per cent or as fractions, counts as they are, changes with a sign."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from .grammar import parse_measure

NONE = "–"
"""What stands where there is no number."""

_FRACTIONS: ContextVar[bool] = ContextVar("fractions", default=False)


@contextmanager
def fractions(wanted: bool = True) -> Iterator[None]:
    """Write shares as fractions such as ``.8413`` where they are in per cent otherwise, within the block."""
    token = _FRACTIONS.set(wanted)
    try:
        yield
    finally:
        _FRACTIONS.reset(token)


@cache
def is_share(measure: str) -> bool:
    """Return whether a measure is a share, at most 1; another, such as ``dcg@10``, is a count or a sum and never in per cent."""
    return not measure or parse_measure(measure).most <= 1


def amount(value: float | None, measure: str = "", digits: int = 1) -> str:
    """Write a share as a percentage without its sign, such as ``43.8``, or as a fraction, ``.4380``; a dash where there is none.

    Args:
        measure: whose value it is; one that is no share is written as it is, such as ``3.21``.
        digits: after the point of a percentage; a fraction has four, a count twice as many.
    """
    if value is None or math.isnan(value):
        return NONE
    factor, digits = _style(measure, digits)
    return f"{factor * value:.{digits}f}"


def shift(value: float, measure: str = "") -> str:
    """Write a difference with its sign, such as ``+8.2`` percentage points or ``+0.0820``."""
    factor, digits = _style(measure, 1)
    return f"{round(factor * value, digits) + 0.0:+.{digits}f}"  # the sum turns a negative zero into a positive one


def shifted(value: float, measure: str = "") -> str:
    """Write a difference with its sign and unit, such as ``+8.2 pp``."""
    return shift(value, measure) + pp(measure)


def points(value: float, measure: str = "") -> str:
    """Write the size of a difference with its unit, such as ``8.2 pp``, or without one as ``0.0820``."""
    return amount(value + 0.0, measure) + pp(measure)


def pp(measure: str = "", before: str = " ") -> str:
    """Return the unit of a difference, `before` it: percentage points, or none."""
    return f"{before}pp" if _in_percent(measure) else ""


def common_unit(measures: Iterable[str]) -> str:
    """Return the unit for the head of a column of differences: none where one of the measures is no share."""
    return pp() if all(map(is_share, measures)) else ""


def percent_sign(measure: str = "", before: str = " ") -> str:
    """Return the unit of a value, `before` it: per cent, or none."""
    return f"{before}%" if _in_percent(measure) else ""


def as_fractions() -> bool:
    """Return whether shares are written as fractions."""
    return _FRACTIONS.get()


def scale() -> str:
    """Say how shares are written: ``in percent`` or ``as fractions``."""
    return "as fractions" if as_fractions() else "in percent"


def drawn_as(measure: str = "") -> int:
    """Return what a value is multiplied by where it is drawn."""
    return _style(measure, 1)[0]


def _in_percent(measure: str) -> bool:
    return is_share(measure) and not as_fractions()


def _style(measure: str, digits: int) -> tuple[int, int]:
    """Return what a value is multiplied by, and how many digits follow its point."""
    if _in_percent(measure):
        return 100, digits
    return (1, 4) if is_share(measure) else (1, 2 * digits)


def probability(p: float | None) -> str:
    """Write a p-value to three decimals, such as ``.031``; very small ones as ``<.001``."""
    if p is None:
        return NONE
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
