"""How one answer came about: what each arm found, what each stage dropped, and the milliseconds of both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from . import telemetry


@dataclass(frozen=True)
class ArmTrace:
    """One arm's candidates, best first: ids and scores of equal length."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass
class Trace:
    """The record of one search.

    Attributes:
        spans: dotted name → milliseconds, in the order in which the spans ended; ``total`` is the whole search.
        arms: arm → its candidates; an arm that did not run is missing.
        dropped: stage → ids that it took out, best first.
        notes: what a reader must know, such as a fall-back and its reason.
    """

    spans: dict[str, float] = field(default_factory=dict)
    arms: dict[str, ArmTrace] = field(default_factory=dict)
    dropped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list, repr=False)
    _replayed: float = field(default=0.0, repr=False)

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Time what happens inside; a span within another is recorded as ``outer.inner``."""
        self._open.append(name)
        path, replayed, start = ".".join(self._open), self._replayed, perf_counter()
        try:
            with telemetry.span(path):
                yield
        finally:
            elapsed = (perf_counter() - start) * 1e3 + self._replayed - replayed
            self.spans[path] = self.spans.get(path, 0.0) + elapsed
            self._open.pop()

    def replay(self, name: str, milliseconds: float, spent: float = 0.0) -> None:
        """Record work at the time it takes when done afresh, whatever a cache made of it.

        Args:
            milliseconds: what the work takes.
            spent: the milliseconds that really went by just now; the open spans count `milliseconds` in their place.
        """
        path = ".".join((*self._open, name))
        self.spans[path] = self.spans.get(path, 0.0) + milliseconds
        self._replayed += milliseconds - spent
        telemetry.replayed(path, milliseconds)

    def graft(self, other: Trace, root: str, spent: float) -> None:
        """Take over the spans below `root` and the notes of a search recorded earlier, as if it had run inside the open span.

        Args:
            spent: the milliseconds that really went by just now; the open spans count the time of `root` in their place.
        """
        for path, milliseconds in other.spans.items():
            if path != root:
                inner = ".".join((*self._open, path.removeprefix(f"{root}.")))
                self.spans[inner] = self.spans.get(inner, 0.0) + milliseconds
        self._replayed += other.spans[root] - spent
        self.notes += other.notes
