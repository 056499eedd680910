"""Ingest: what happens to observations before any system indexes them, with counts of all that was changed or removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol

from ...datasets.errors import InputError
from ...datasets.model import Observation
from ..ranking import Retriever, Wrapper

_NAMED = 20  # removed ids that the report names; the rest are counted


@dataclass(frozen=True)
class Intake:
    """What one step made of the observations of one scope, and what it counted."""

    observations: tuple[Observation, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


class Step(Protocol):
    """One step of ingest."""

    def apply(self, observations: Sequence[Observation]) -> Intake:
        """Return what is kept of one scope's observations, which come and go in order of time."""
        ...


class Ingest(Wrapper):
    """A retriever that gets only what the steps let through.

    Args:
        retriever: what indexes and searches.
        steps: name → step, applied in this order to each scope; a step set to null is switched off.

    Raises:
        InputError: every step is switched off.
    """

    def __init__(self, retriever: Retriever, steps: Mapping[str, Step | None]) -> None:
        super().__init__(retriever)
        self.steps = {name: step for name, step in steps.items() if step is not None}
        if not self.steps:
            raise InputError("ingest has no step", where="steps", remedy="name one, such as privacy")
        self._report: dict[str, Any] = {}

    def index(self, observations: Sequence[Observation]) -> None:
        """Take the steps in each scope, in order of time, and hand on what is left."""
        counts: dict[str, Counter[str]] = {name: Counter() for name in self.steps}
        removed: dict[str, list[str]] = {name: [] for name in self.steps}
        kept: dict[str, Observation] = {}
        ordered = sorted(observations, key=lambda o: (o.scope, o.timestamp, o.id))
        for _, scope in groupby(ordered, key=lambda o: o.scope):
            present = tuple(scope)
            for name, step in self.steps.items():
                intake = step.apply(present)
                counts[name].update(intake.counts)
                survivors = {o.id for o in intake.observations}
                removed[name] += [o.id for o in present if o.id not in survivors]
                present = intake.observations
            kept |= {o.id: o for o in present}
        self._report = {
            "taken_in": len(observations),
            "kept": len(kept),
            "steps": {name: {"removed": len(removed[name]), **counts[name], "removed_ids": removed[name][:_NAMED]} for name in self.steps},
        }
        self.retriever.index([kept[o.id] for o in observations if o.id in kept])

    def report(self) -> dict[str, Any]:
        """Return the retriever's report and, as ``ingest``, the observations taken in and kept, each step's counts and removed ids."""
        return {**super().report(), "ingest": self._report}
