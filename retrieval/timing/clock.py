"""What a piece of work costs when it is done afresh and alone, whatever was loaded, shared or cached a moment ago.

Every time that is shown is read from this clock. Loading a library or a model is never charged to the work that came upon it first.
Work that another system did first is charged again, at the time that it took in this run. Work whose result came from an earlier run
has no time here: a measurement that it falls into has none either, until it is done live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter


@dataclass
class _Clock:
    """One a process: systems are measured one after another, and a library may call back from any of its threads."""

    offset: float = 0.0
    gaps: int = 0
    system: int = 0
    live: bool = False


_clock = _Clock()
_shared: list[Callable[[], object]] = []


@dataclass
class Stopwatch:
    """What a measurement gave: milliseconds; None while it runs, and where a part was not done in this run."""

    ms: float | None = None


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Measure what happens inside."""
    watch, gaps, began = Stopwatch(), _clock.gaps, _now()
    try:
        yield watch
    finally:
        watch.ms = (_now() - began) * 1e3 if _clock.gaps == gaps else None


@contextmanager
def uncharged() -> Iterator[None]:
    """Leave what happens inside out of every measurement under way."""
    before = _now()
    try:
        yield
    finally:
        _clock.offset += before - _now()


def charge(milliseconds: float | None) -> None:
    """Count work that was not done just now at the time that it took in this run; None: it was not done in this run."""
    if milliseconds is None:
        _clock.gaps += 1
    else:
        _clock.offset += milliseconds / 1e3


@contextmanager
def live(wanted: bool = True) -> Iterator[None]:
    """Have everything inside done anew that is asked for, whatever a cache holds."""
    before, _clock.live = _clock.live, wanted
    try:
        yield
    finally:
        _clock.live = before


def is_live() -> bool:
    """Return whether work has to be done anew."""
    return _clock.live


def next_system() -> None:
    """Begin with another system: it pays for what it needs, whether an earlier one needed it too or not."""
    _clock.system += 1
    for forget in _shared:
        forget()


def system() -> int:
    """Return the number of the system that is measured, so that what it has paid for is not charged to it twice."""
    return _clock.system


def forget_between_systems(forget: Callable[[], object]) -> None:
    """Have something forgotten that one system computed and the next would find, where computing it again costs little."""
    _shared.append(forget)


def _now() -> float:
    return perf_counter() + _clock.offset
