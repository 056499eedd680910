"""A measure that looks at one query at a time: the easiest way to write one of one's own."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, permutations, product
from math import factorial, prod

import numpy as np

from ...datasets.errors import InputError
from ...datasets.model import Observation, Query
from ...retrieval.ranking import Hit
from .gains import Context, JudgedRun
from .measure import Measure, Values
from .ties import Tied, TieInterval

ORDERS = 120
"""Of so many orders of tied scores all are looked at; of more, so many are drawn."""


@dataclass(frozen=True)
class QueryOutcome:
    """What one query asked for and got.

    Attributes:
        query_id: the query.
        ids: what came back, in canonical order.
        grades: the judgments: document → grade; grade 1 or more means relevant.
        context: all queries and observations; None where only judgments are known.
    """

    query_id: str
    ids: tuple[str, ...]
    grades: Mapping[str, int]
    context: Context | None = None

    @property
    def query(self) -> Query | None:
        """The query itself; None where it is not known."""
        return None if self.context is None else self.context.queries.get(self.query_id)

    def observation(self, identifier: str) -> Observation | None:
        """Return an observation of the memory; None where it is not known."""
        return None if self.context is None else self.context.observations.get(identifier)

    def existed(self, identifier: str) -> bool:
        """Return whether it existed when the question was asked; what is not known is for the data check to report, not a leak."""
        observation, query = self.observation(identifier), self.query
        return observation is None or query is None or query.asked_at is None or observation.timestamp <= query.asked_at

    @property
    def relevant(self) -> frozenset[str]:
        """The documents of grade 1 or more."""
        return frozenset(identifier for identifier, grade in self.grades.items() if grade >= 1)


@dataclass(frozen=True)
class QueryMeasure(Measure):
    """A measure that is computed query by query.

    Its values under ties are found by looking at every order of the tied scores, or at 120 seeded draws where there are more.
    """

    by_query = True

    def value(self, outcome: QueryOutcome) -> float | None:
        """Return the value of one query; None leaves it out of the mean."""
        raise NotImplementedError

    def values(self, run: JudgedRun) -> Values:
        """Return the value of each query, nan for one that is left out."""
        return np.array([self._value(outcome) for outcome in outcomes(self, run)], np.float64)

    def interval(self, tied: Tied) -> TieInterval:
        """Return the bounds and the mean over the orders looked at."""
        rows = [[self._value(other) for other in orders(outcome, hits)] for outcome, hits in _with_hits(self, tied.run)]
        low, mean, high = (np.array([what(row) for row in rows], np.float64) for what in (min, _mean, max))
        worst, best = (high, low) if self.lower_is_better else (low, high)
        return TieInterval(worst, mean, best)

    def _value(self, outcome: QueryOutcome) -> float:
        value = self.value(outcome)
        return float("nan") if value is None else float(value)


def outcomes(measure: Measure, run: JudgedRun) -> Iterator[QueryOutcome]:
    """Yield what each query of a run asked for and got.

    Raises:
        InputError: the measure needs lists or the memory itself, and the run has none.
    """
    return (outcome for outcome, _ in _with_hits(measure, run))


def _with_hits(measure: Measure, run: JudgedRun) -> Iterator[tuple[QueryOutcome, Sequence[Hit]]]:
    if run.lists is None or (measure.asks_memory and run.context is None):
        raise InputError(
            f"{measure} looks at the memory itself, of which judgments and a ranking say nothing",
            remedy=f"ask for it in a run: measures=[{measure}]",
        )
    query_ids, qrels, rankings = run.lists
    for query, hits in zip(query_ids, rankings, strict=True):
        yield QueryOutcome(query, tuple(hit.id for hit in hits), qrels[query], run.context), hits


def orders(outcome: QueryOutcome, hits: Sequence[Hit]) -> Iterator[QueryOutcome]:
    """Yield the outcome in the orders of its tied scores: all of them, or `ORDERS` seeded draws."""
    groups = [[hit.id for hit in group] for _, group in groupby(hits, key=lambda hit: hit.score)]
    if prod(factorial(min(len(group), 6)) for group in groups) <= ORDERS:
        every: Iterator[Iterator[str]] = (chain.from_iterable(order) for order in product(*map(permutations, groups)))
    else:
        every = (chain.from_iterable(order) for order in islice(_draws(groups, outcome.query_id), ORDERS))
    for order in every:
        yield replace(outcome, ids=tuple(order))


def _draws(groups: Sequence[list[str]], seed: str) -> Iterator[list[list[str]]]:
    draw = random.Random(seed)
    while True:
        yield [draw.sample(group, len(group)) for group in groups]


def _mean(row: Sequence[float]) -> float:
    return sum(row) / len(row)
