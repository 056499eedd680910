"""Two systems side by side on the same queries: how they differ, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..inference.clusters import Clusters, Floats
from ..inference.intervals import DIFFERENCES, Interval, mean_intervals
from ..inference.power import minimum_detectable_effect
from ..inference.robust import MANY, robust_test
from ..inference.statistics import (
    benjamini_hochberg,
    effect_size,
    holm,
    paired_t,
    wilcoxon,
)
from ..measures.grammar import direction, parse_measure
from ..measures.metrics import tie_interval
from ..measures.ties import TieInterval
from ..record import Run

DIGITS = 6
"""Per-query values are compared to so many decimals, which is what a baseline keeps."""

DEPTH = 10
"""How many ids of each ranking a baseline keeps, and reports look at."""

_SILENT, _NEEDED = "no query of the data set {} has an answer", "run a data set whose queries name what is relevant"

ALPHA = 0.05

_Evidence = tuple[Sequence[float] | Floats, Sequence[bool] | NDArray[np.bool_]]
Test = Literal["randomisation", "t", "wilcoxon"]
Correction = Literal["holm", "bh"]


@dataclass(frozen=True)
class Results:
    """What one system reached on each query that any of its measures is about.

    Attributes:
        label: how reports call it.
        fingerprint: of the data set.
        queries: ids of the answerable queries, and of the others where a measure is about them, sorted.
        values: measure → value of each query, shape (queries,), rounded to `DIGITS` decimals; nan where it leaves one out.
        rankings: query → observation ids, best first; a query that got nothing may be missing.
        categories: query → category.
        groups: query → the group that it hangs together with; one that is missing or "" stands by itself.
    """

    label: str
    fingerprint: str
    queries: tuple[str, ...]
    values: Mapping[str, Floats]
    rankings: Mapping[str, Sequence[str]]
    categories: Mapping[str, str]
    groups: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Query → its position in the arrays."""
        return {query: row for row, query in enumerate(self.queries)}


def check_answerable(run: Run) -> None:
    """Raise `InputError` where no query of a run has an answer, so that there is no mean of anything."""
    if not any(query.answerable for query in run.queries.values()):
        raise InputError(_SILENT.format(run.manifest["dataset"]["name"]), where=str(run.path), remedy=_NEEDED)


def results_of(run: Run, system: str, *, label: str = "") -> Results:
    """Read one system out of a run.

    Raises:
        InputError: the run has no such system, or not every query in it.
    """
    if system not in run.systems:
        raise InputError(f"there is no system {system!r}", where=str(run.path), remedy=f"there are {', '.join(run.systems)}")
    rows = {row["query"]: row for row in run.per_query if row["system"] == system}
    missing = sorted(query for query in run.queries if query not in rows)
    if missing:
        raise InputError(
            f"{len(missing)} of {len(run.queries)} queries of {system} are missing, such as {missing[0]!r}",
            where=str(run.path / "per_query.csv"),
            remedy="run it again",
        )
    measured = tuple(sorted(query for query, row in rows.items() if row["answerable"] or any(row[m] is not None for m in run.measures)))
    return Results(
        label or system,
        run.manifest["dataset"]["fingerprint"],
        measured,
        {m: np.array([rows[query][m] for query in measured], np.float64).round(DIGITS) for m in run.measures},
        {query: [hit.id for hit in hits] for query, hits in run.rankings[system].items()},
        {query: rows[query]["category"] for query in measured},
        {query: run.queries[query].group for query in measured},
    )


def over_ties(results: Results, run: Run, system: str, measures: Sequence[str]) -> tuple[Results, Results] | None:
    """Return the results as the worst and the best order of tied scores would have them; None where no tie decides a value.

    Args:
        results: read from `run` and `system`.
        measures: look at these alone; the values of the others stay.
    """
    qrels = {query.id: query.judgments for query in run.queries.values()}
    intervals = tie_interval(qrels, run.rankings[system], [parse_measure(measure) for measure in measures], run.context(system))
    return at_extremes(results, intervals, sorted(qrels))


def at_extremes(results: Results, intervals: Mapping[str, TieInterval], queries: Sequence[str]) -> tuple[Results, Results] | None:
    """Return the results at the worst and at the best ends of `intervals`, which are over `queries`; None where no tie decides a value."""
    rows = {query: row for row, query in enumerate(queries)}
    kept = [rows[query] for query in results.queries]
    if not any(interval.tied[kept].any() for interval in intervals.values()):
        return None
    worst = {measure: interval.worst[kept].round(DIGITS) for measure, interval in intervals.items()}
    best = {measure: interval.best[kept].round(DIGITS) for measure, interval in intervals.items()}
    return replace(results, values={**results.values, **worst}), replace(results, values={**results.values, **best})


@dataclass(frozen=True)
class Pairing:
    """Two systems' results on the queries that both have, paired by query id, sorted."""

    before: Results
    after: Results
    queries: tuple[str, ...]

    @property
    def left_out(self) -> int:
        """How many queries only one of the two has."""
        return len(set(self.before.queries) ^ set(self.after.queries))

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that both have, in the order of the second."""
        return tuple(m for m in self.after.values if m in self.before.values)

    def within(self, category: str, measure: str = "") -> tuple[str, ...]:
        """Return the queries of a category, "" standing for all; with a measure those that it does not leave out."""
        queries = [query for query in self.queries if not category or self.after.categories[query] == category]
        if not measure:
            return tuple(queries)
        before, after = self.values(measure, queries)
        return tuple(query for query, out in zip(queries, np.isnan(before + after).tolist(), strict=True) if not out)

    def clusters(self, queries: Iterable[str]) -> Clusters:
        """Return which of the queries hang together; a baseline's file does not say so, the run beside it does."""
        groups = {**self.before.groups, **self.after.groups}
        return Clusters.of([groups.get(query, "") for query in queries])

    def values(self, measure: str, queries: Iterable[str]) -> tuple[Floats, Floats]:
        """Return the values before and after, each of shape (queries,)."""
        chosen = list(queries)
        before, after = (side.values[measure][[side.rows[query] for query in chosen]] for side in (self.before, self.after))
        return before, after

    def differences(self, measure: str, queries: Iterable[str]) -> Floats:
        """Return after − before, shape (queries,), rounded so that equal values differ by exactly 0."""
        before, after = self.values(measure, queries)
        return (after - before).round(DIGITS)


def pair(before: Results, after: Results, *, allow_different: bool = False) -> Pairing:
    """Pair two systems by query id, whatever the order of either.

    Args:
        allow_different: take the queries that both have where data sets or query sets differ.

    Raises:
        InputError: the data sets or the query sets differ and that is not allowed, or no query or measure is common to both.
    """
    common = tuple(query for query in before.queries if query in after.rows)
    names = f"{before.label} and {after.label}"
    remedy = "evaluate both on one data set, or compare what they share with --allow-different-queries"
    if not allow_different:
        if before.fingerprint != after.fingerprint:
            prints = f"{before.fingerprint[:12]} and {after.fingerprint[:12]}"
            raise InputError(f"{names} come from different data sets (fingerprints {prints})", remedy=remedy)
        if only := sorted(set(before.queries) ^ set(after.queries)):
            raise InputError(f"{names} differ in their queries: {len(only)} are in only one, such as {only[0]!r}", remedy=remedy)
    pairing = Pairing(before, after, common)
    for side in (before, after):
        if not side.queries:
            raise InputError(_SILENT.format(f"of {side.label}"), remedy=_NEEDED)
    if not common:
        raise InputError(f"{names} have no answerable query in common", remedy="evaluate both on one data set")
    if not pairing.measures:
        raise InputError(f"{names} have no measure in common", remedy="evaluate both with the same measures")
    return pairing


@dataclass(frozen=True)
class Difference:
    """One measure of two systems over one set of queries.

    Attributes:
        category: "" for all queries.
        groups: how many units of chance there are, which is `n` where every query stands by itself.
        design_effect: how many times the variance of the mean is what it were if every query stood by itself.
        mean: mean of after − before; `interval` is its 95 % interval.
        p: two-sided; `adjusted` is corrected over the whole table that the row stands in.
        exploratory: whether a small p rests on rare changes in the other direction not having been met by so few queries.
        wins: queries on which the second is better; `losses` those on which it is worse.
        detectable: the smallest mean difference that this many queries would show at the table's strictest level.
        effect: mean over standard deviation of the differences.
    """

    measure: str
    category: str
    n: int
    groups: int
    design_effect: float
    before: float
    after: float
    mean: float
    interval: Interval
    p: float
    adjusted: float
    exploratory: bool
    wins: int
    ties: int
    losses: int
    detectable: float | None
    effect: float | None


@dataclass(frozen=True)
class Comparison:
    """Two systems compared: a row a measure over all queries, and a row a measure and category."""

    pairing: Pairing
    overall: tuple[Difference, ...]
    by_category: tuple[Difference, ...]


def compare(
    pairings: Sequence[Pairing],
    measures: Sequence[str] = (),
    *,
    test: Test = "randomisation",
    correction: Correction = "holm",
    alpha: float = ALPHA,
    seed: int = 0,
) -> list[Comparison]:
    """Compare each pair; p is corrected over all overall rows together, and over all rows by category.

    Args:
        measures: which, in this order; all that a pair has in common when empty.
        test: how p is computed, always paired by query.
        correction: ``holm`` bounds the chance of any false alarm, ``bh`` the share of false ones among the alarms.
        alpha: level of the whole table.

    Raises:
        InputError: a measure that a pair does not have.
    """
    for measure in measures:
        for pairing in pairings:
            if measure not in pairing.measures:
                raise InputError(f"{pairing.after.label} has no measure {measure!r}", remedy=f"there are {', '.join(pairing.measures)}")
    chosen = [tuple(measures) or pairing.measures for pairing in pairings]
    categories = [sorted(set(filter(None, (pairing.after.categories[q] for q in pairing.queries)))) for pairing in pairings]
    overall_size = sum(map(len, chosen))
    category_size = sum(len(m) * len(c) for m, c in zip(chosen, categories, strict=True))
    overall = [_rows(p, m, "", test, alpha / max(overall_size, 1), seed) for p, m in zip(pairings, chosen, strict=True)]
    by_category = [
        [row for category in c for row in _rows(p, m, category, test, alpha / max(category_size, 1), seed)]
        for p, m, c in zip(pairings, chosen, categories, strict=True)
    ]
    return [
        Comparison(pairing, tuple(rows), tuple(parts))
        for pairing, rows, parts in zip(pairings, _adjusted(overall, correction), _adjusted(by_category, correction), strict=True)
    ]


def still_shown(row: Difference, units: Clusters, test: Test = "randomisation", alpha: float = ALPHA) -> Callable[[Floats], bool]:
    """Return what tells whether other differences after − before would show the same, corrected as much as those of `row` were."""
    factor = row.adjusted / row.p if row.p else 1.0

    def stands(differences: Floats) -> bool:
        p, _ = _TESTS[test](differences[None, :], units, max(1.0, float(np.abs(differences).max())), 0)
        return float(p[0]) * factor < alpha and np.sign(differences.mean()) == np.sign(row.mean)

    return stands


def _rows(pairing: Pairing, measures: Sequence[str], category: str, test: Test, level: float, seed: int) -> list[Difference]:
    """Return a row a measure that is about any of the queries; measures about the same queries share the draws."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for measure in measures:
        alike.setdefault(pairing.within(category, measure), []).append(measure)
    found = {
        row.measure: row
        for queries, some in alike.items()
        if queries
        for row in _rows_over(pairing, queries, some, category, test, level, seed)
    }
    return [found[measure] for measure in measures if measure in found]


def _rows_over(
    pairing: Pairing, queries: tuple[str, ...], measures: Sequence[str], category: str, test: Test, level: float, seed: int
) -> list[Difference]:
    sides = [pairing.values(measure, queries) for measure in measures]
    differences = np.stack([pairing.differences(measure, queries) for measure in measures])
    units, reach = pairing.clusters(queries), max(1.0, float(np.abs(np.stack(sides)).max()))
    intervals = mean_intervals(differences, DIFFERENCES if reach == 1 else None, clusters=units, seed=seed)
    p, exploratory = _TESTS[test](differences, units, reach, seed)
    return [
        Difference(
            measure,
            category,
            len(queries),
            units.count,
            units.design_effect(row),
            float(before.mean()),
            float(after.mean()),
            float(row.mean()),
            interval,
            float(chance),
            float(chance),
            bool(rests),
            int((direction(measure) * row > 0).sum()),
            int((row == 0).sum()),
            int((direction(measure) * row < 0).sum()),
            minimum_detectable_effect(row, alpha=level / 2, clusters=units),
            effect_size(row),
        )
        for measure, (before, after), row, interval, chance, rests in zip(
            measures, sides, differences, intervals, p, exploratory, strict=True
        )
    ]


def _adjusted(tables: list[list[Difference]], correction: Correction) -> list[list[Difference]]:
    correct = holm if correction == "holm" else benjamini_hochberg
    flat = correct([row.p for table in tables for row in table]).tolist()
    return [[replace(row, adjusted=flat.pop(0)) for row in table] for table in tables]


def _randomisation(rows: Floats, units: Clusters, reach: float, seed: int) -> _Evidence:
    found = robust_test(rows, clusters=units, reach=reach, seed=seed)
    if units.count >= MANY:
        return found.p, np.zeros(len(rows), bool)
    return found.plain, (found.plain < ALPHA) & (found.p >= ALPHA)


_TESTS: Mapping[Test, Callable[[Floats, Clusters, float, int], _Evidence]] = {
    "randomisation": _randomisation,
    "t": lambda rows, units, *_: ([paired_t(row, clusters=units) for row in rows], [False] * len(rows)),
    "wilcoxon": lambda rows, units, *_: ([wilcoxon(row) for row in units.sums(rows)], [False] * len(rows)),
}
