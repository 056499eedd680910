"""How one answer came about: what each arm found, what each stage dropped, and the milliseconds of both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import telemetry
from .timing import clock


@dataclass(frozen=True)
class ArmTrace:
    """One arm's candidates, best first: ids and scores of equal length."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass
class Trace:
    """The record of one search.

    Attributes:
        spans: dotted name → milliseconds, in the order in which the spans ended; ``total`` is the whole search. One that something
            from an earlier run fell into has no time, and is missing.
        arms: arm → its candidates; an arm that did not run is missing.
        dropped: stage → ids that it took out, best first.
        notes: what a reader must know, such as a fall-back and its reason.
    """

    spans: dict[str, float] = field(default_factory=dict)
    arms: dict[str, ArmTrace] = field(default_factory=dict)
    dropped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list, repr=False)

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Time what happens inside; a span within another is recorded as ``outer.inner``."""
        self._open.append(name)
        path = ".".join(self._open)
        with clock.stopwatch() as watch:
            try:
                with telemetry.span(path):
                    yield
            finally:
                self._open.pop()
        self._add(path, watch.ms)

    def replay(self, name: str, milliseconds: float) -> None:
        """Record work that is not done again at the time that it took in this run."""
        path = ".".join((*self._open, name))
        self._add(path, milliseconds)
        clock.charge(milliseconds)
        telemetry.replayed(path, milliseconds)

    def graft(self, other: Trace, root: str) -> None:
        """Take over the spans below `root` and the notes of a search recorded earlier in this run, as if it ran inside the open span."""
        for path, milliseconds in other.spans.items():
            if path != root:
                self._add(".".join((*self._open, path.removeprefix(f"{root}."))), milliseconds)
        clock.charge(other.spans.get(root))
        self.notes += other.notes

    def _add(self, path: str, milliseconds: float | None) -> None:
        if milliseconds is not None:
            self.spans[path] = self.spans.get(path, 0.0) + milliseconds
