"""Records, as a reader yields them, become one data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from .faults import (
    CIRCLE,
    CONFLICT,
    ID_TAKEN,
    LONE_SURROGATE,
    NOT_RELEVANT,
    NUL,
    SAME_JUDGMENT_TWICE,
    SAME_RECORD_TWICE,
    UNKNOWN_QUERY,
    Faults,
    Judgment,
    Placed,
    Refused,
)
from .model import Dataset, Observation, Query, by_relevance
from .unicode import lone_surrogate

Reader = Callable[[Faults], Iterable[Placed]]
"""Reads one source: yields its records in any order, reports what is wrong with them."""


def load(read: Reader, *, name: str, licence: str = "") -> Dataset:
    """Read a whole source.

    Raises:
        InputError: the first error met, with its place; warnings are told in `Dataset.notes`.
    """
    faults = Refused()
    assembly = Assembly(faults)
    for placed in read(faults):
        assembly.add(placed)
    return replace(assembly.dataset(name, licence), notes=faults.notes())


class Assembly:
    """Takes records in any order; of two with one id the first is kept and the second reported.

    Attributes:
        observations, queries: id → record, in the order in which they came.
        judged: query id → observation id → grade, grades below 1 included.
    """

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self.observations: dict[str, Observation] = {}
        self.queries: dict[str, Query] = {}
        self.judged: dict[str, dict[str, int]] = {}
        self._judged_at: dict[str, str] = {}
        self._superseded_at: dict[str, str] = {}

    def add(self, placed: Placed) -> bool:
        """Take one record; return whether it was kept."""
        record = placed.record
        if isinstance(record, Observation):
            kept = self._keep(self.observations, record, placed.where)
            if kept and record.superseded_by is not None:
                self._superseded_at[record.id] = placed.where
            return kept
        if isinstance(record, Query):
            return self._keep(self.queries, record, placed.where)
        return self._judge(record, placed.where)

    def dataset(self, name: str, licence: str = "") -> Dataset:
        """Join queries with what is judged relevant, and return the data set."""
        for query in self.judged:
            if query not in self.queries:
                self._faults.report(UNKNOWN_QUERY, self._judged_at[query], f"the query {query!r} is judged but not among the queries")
        queries = tuple(self._judged(query) for query in self.queries.values())
        self._find_circles()
        observations = tuple(self.observations.values())
        self.observations.clear()  # a large data set is in memory once, not beside a table of its ids
        return Dataset(name, observations, queries, licence)

    def _find_circles(self) -> None:
        """Report each circle of observations that supersede one another, once, with the places of all of them."""
        told: set[str] = set()
        for first in self._superseded_at:
            chain = [first]
            while (successor := self.observations[chain[-1]].superseded_by) is not None and successor in self._superseded_at:
                if successor in told or successor in chain:
                    break
                chain.append(successor)
            if successor in chain:
                circle = chain[chain.index(successor) :]
                if told.isdisjoint(circle):
                    places = ", ".join(self._superseded_at[identifier] for identifier in circle)
                    what = f"{' → '.join(map(repr, [*circle, circle[0]]))} supersede one another ({places})"
                    self._faults.report(CIRCLE, self._superseded_at[circle[0]], what)
            told.update(chain)

    def _judged(self, query: Query) -> Query:
        """Return a query with its judgments; its only one, if that says that something is no answer, just says that it was asked."""
        judged = self.judged.get(query.id, {})
        relevant, irrelevant = by_relevance(judged)
        return replace(query, relevant=relevant, irrelevant=irrelevant if len(judged) > 1 else ())

    def _keep(self, kept: dict[str, Observation] | dict[str, Query], record: Observation | Query, where: str) -> bool:
        self._inspect(record, where)
        before = kept.setdefault(record.id, record)  # type: ignore[arg-type]
        if before is record:
            return True
        what = type(record).__name__.lower()
        if before == record:
            self._faults.report(SAME_RECORD_TWICE, where, f"the {what} {record.id!r} occurs again")
        else:
            self._faults.report(ID_TAKEN, where, f"the {what} id {record.id!r} occurs again, with other content")
        return False

    def _inspect(self, record: Observation | Query, where: str) -> None:
        for text in _texts(record):
            if "\0" in text:
                self._faults.report(NUL, where, f"a NUL character in {record.id!r}")
            if half := lone_surrogate(text):
                self._faults.report(LONE_SURROGATE, where, f"half a character (U+{ord(half):04X}) in {record.id!r}")

    def _judge(self, judgment: Judgment, where: str) -> bool:
        query, observation, grade = judgment
        self._judged_at.setdefault(query, where)
        grades = self.judged.setdefault(query, {})
        told = f"query {query!r}, observation {observation!r}"
        if observation in grades:
            if grades[observation] == grade:
                self._faults.report(SAME_JUDGMENT_TWICE, where, f"{told}: judged again, with the same grade {grade}")
            else:
                self._faults.report(CONFLICT, where, f"{told}: grade {grades[observation]} before, {grade} here")
            return False
        if grade < 1:
            self._faults.report(NOT_RELEVANT, where, f"{told}: grade {grade}")
        grades[observation] = grade
        return True


def _texts(record: Observation | Query) -> tuple[str, ...]:
    if isinstance(record, Query):
        return (record.id, record.text, record.category, record.scope, *record.tags)
    o = record
    return (o.id, o.session_id, o.type, o.title, o.subtitle, o.narrative, *o.facts, *o.concepts, *o.files, o.scope, o.superseded_by or "")
