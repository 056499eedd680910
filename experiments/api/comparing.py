"""Systems of one run, or of several, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...datasets.errors import InputError
from ...datasets.model import Query
from ...evaluation.inference.verdict import written as in_words
from ...evaluation.judging import compare as judging
from ...evaluation.judging.changes import QueryChange, changes
from ...evaluation.judging.compare import (
    DEPTH,
    Comparison,
    Correction,
    Difference,
    Pairing,
    Results,
    Test,
    over_ties,
    pair,
    results_of,
    still_shown,
)
from ...evaluation.judging.labels import holes, judged_change, sensitivity
from ...evaluation.measures.grammar import direction, parse_measure
from ...evaluation.measures.numbers import shifted
from ...evaluation.record import Run as Record
from ...reports import comparison as written
from ...reports.table import HEADLINE, aligned
from .runs import Run, as_run, html_table

if TYPE_CHECKING:
    from pandas import DataFrame

ALPHA = 0.05
SHOWN = 10
"""How many of the queries that changed are shown."""

Contender = Run | str | Path | tuple[Run, str]
"""A run, its directory, or one system of it: ``(run, "bm25")`` or ``"runs/before:bm25"``."""


Luck = tuple[Results, Results] | None
"""Results with the worst and with the best order of tied scores; None where no tie decides a value."""


class _Side(NamedTuple):
    run: Record
    system: str
    label: str


@dataclass(frozen=True)
class Comparisons:
    """Pairs of systems compared in one table. A notebook shows it as that table.

    Attributes:
        comparisons: one a pair, with its pairing and differences.
        changed: of each pair the queries that changed, the largest drop first.
        ties: which differences hang on the order of tied scores, in words.
        labels: how much of what the two sides found was judged, and on how few judgments a difference hangs, in words.
        test, correction: how p was computed and corrected.
        notes: in what the runs were not made alike, in words.
    """

    comparisons: tuple[Comparison, ...]
    changed: tuple[tuple[QueryChange, ...], ...]
    ties: tuple[str, ...]
    labels: tuple[str, ...]
    test: Test
    correction: Correction
    notes: tuple[str, ...] = ()

    def summary(self) -> DataFrame:
        """Return a row a pair and measure: means before and after, their difference with its 95 % interval, p, wins, ties, losses."""
        return self._frame("overall")

    def by_category(self) -> DataFrame:
        """Return a row a pair, measure and category, as in `summary`."""
        return self._frame("by_category")

    def queries(self) -> DataFrame:
        """Return a row a pair, changed query and measure: its values before and after."""
        from pandas import DataFrame

        return DataFrame(
            [
                {**_sides_of(comparison), "query": one.query.id, "text": one.query.text, "measure": measure, **_pair(values)}
                for comparison, found in zip(self.comparisons, self.changed, strict=True)
                for one in found
                for measure, values in one.values.items()
            ]
        )

    def text(self, queries: int = SHOWN) -> str:
        """Write the comparison for a terminal, with so many of the queries that changed."""
        return self._written(written.text, queries)

    def markdown(self, queries: int = SHOWN) -> str:
        """Write the comparison in Markdown, with so many of the queries that changed."""
        return self._written(written.document, queries)

    def latex(self) -> str:
        """Return the overall table for a paper: a row a system, a column a measure, letters where a difference is shown."""
        from ...reports.formats.paper import latex

        return latex(self.comparisons, self.test, self.correction, ALPHA)

    def as_record(self) -> dict[str, Any]:
        """Return the comparison as JSON-ready values: full precision and every changed query."""
        pairs = zip(self.comparisons, self.changed, strict=True)
        found = {
            "test": self.test,
            "correction": self.correction,
            "alpha": ALPHA,
            "ties": list(self.ties),
            "labels": list(self.labels),
            "notes": list(self.notes),
        }
        return {**found, "comparisons": [written.record(*one) for one in pairs]}

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return "\n\n".join(f"{written.title(c)}\n{aligned(written.rows(c.overall))}" for c in self.comparisons)

    def _repr_html_(self) -> str:
        from html import escape

        tables = [f"<p>{escape(written.title(c))}</p>{html_table(written.rows(c.overall))}" for c in self.comparisons]
        return "".join([*tables, *(f"<p>{escape(line)}</p>" for line in (*self._told, written.legend(self.test, self.correction)))])

    @property
    def _told(self) -> tuple[str, ...]:
        return (*self.notes, *self.ties, *self.labels)

    def _written(self, write: Callable[[Comparison, Sequence[QueryChange], int], str], queries: int) -> str:
        parts = [write(comparison, found, queries) for comparison, found in zip(self.comparisons, self.changed, strict=True)]
        parts += ["\n".join(f"note: {line}" for line in self._told), written.legend(self.test, self.correction)]
        return "\n\n".join(filter(None, parts))

    def _frame(self, part: str) -> DataFrame:
        from pandas import DataFrame

        return DataFrame([{**_sides_of(comparison), **_flat(row)} for comparison in self.comparisons for row in getattr(comparison, part)])


def compare(
    *contenders: Contender,
    measures: Sequence[str] = (),
    test: Test = "randomisation",
    correction: Correction = "holm",
    allow_different_queries: bool = False,
) -> Comparisons:
    """Compare the systems of one run against its first, or each further run against the first, system by system of the same name.

    Args:
        contenders: one run, or several, or single systems of them, such as ``(run, "bm25")``.
        measures: such as ``["recall@10"]``; those of the head-to-head table when empty.
        test: how p is computed, always paired by query.
        correction: for looking at many rows at once.
        allow_different_queries: compare the queries that both have, and say how many.

    Raises:
        InputError: there is nothing to compare, or the data sets, queries or measures differ.
    """
    sides = _paired(contenders)
    results = {side.label: results_of(side.run, side.system, label=side.label) for two in sides for side in two}
    pairings = [pair(results[before.label], results[after.label], allow_different=allow_different_queries) for before, after in sides]
    asked = [str(parse_measure(measure)) for measure in measures]
    asked = asked or [measure for measure in HEADLINE if all(measure in pairing.measures for pairing in pairings)]
    queries = [before.run.queries | after.run.queries for before, after in sides]
    luck = {side.label: over_ties(results[side.label], side.run, side.system, asked) for two in sides for side in two}
    notes = dict.fromkeys(_on_depth(sides, asked))
    return comparisons_of(pairings, queries, luck, asked, test, correction, notes)


def comparisons_of(
    pairings: Sequence[Pairing],
    queries: Sequence[Mapping[str, Query]],
    luck: Mapping[str, Luck],
    measures: Sequence[str],
    test: Test,
    correction: Correction,
    notes: Iterable[str] = (),
) -> Comparisons:
    """Compare pairs in one table of tests, with the queries that changed and what the differences hang on.

    Args:
        queries: of each pair the queries by id.
        luck: label of each side → its results with the worst and the best order of tied scores.
        notes: what else a reader must know.
    """
    table = partial(judging.compare, measures=measures, test=test, correction=correction, alpha=ALPHA)
    comparisons = table(pairings)
    ties = tuple(_hanging_on_ties(comparisons, luck, table))
    labels = tuple(line for one, known in zip(comparisons, queries, strict=True) for line in _on_labels(one, known, test))
    changed = tuple(tuple(changes(p, measures, known, depth=DEPTH)) for p, known in zip(pairings, queries, strict=True))
    return Comparisons(tuple(comparisons), changed, ties, labels, test, correction, tuple(notes))


def _paired(contenders: Sequence[Contender]) -> list[tuple[_Side, _Side]]:
    """Return who is held against whom."""
    named = _named(contenders)
    several = len({id(run) for _, run, _ in named}) > 1

    def side(name: str, run: Record, system: str) -> _Side:
        return _Side(run, system, f"{name}:{system}" if several else system)

    if not named:
        raise InputError("there is nothing to compare", remedy="name a run")
    (first, first_run, first_system), *rest = named
    if not rest:
        if first_system or len(first_run.systems) < 2:
            raise InputError("there is nothing to compare it with", where=str(first), remedy="name another RUN[:SYSTEM]")
        return [(side(first, first_run, first_run.systems[0]), side(first, first_run, system)) for system in first_run.systems[1:]]
    sides = []
    for name, run, system in rest:
        afters = [system] if system else [s for s in run.systems if first_system or s in first_run.systems]
        pairs = [(first_system or after, after) for after in afters]
        if not pairs:
            raise InputError(f"no system of it is in {first}", where=name, remedy="name one of each as RUN:SYSTEM")
        sides += [(side(first, first_run, before), side(name, run, after)) for before, after in pairs]
    return sides


def _on_depth(sides: Sequence[tuple[_Side, _Side]], measures: Sequence[str]) -> Iterator[str]:
    """Yield in which pairs the runs asked for another number of observations, and what that moves."""
    whole = [measure for measure in measures if parse_measure(measure).depth is None]
    for before, after in sides:
        one, other = before.run.manifest["k"], after.run.manifest["k"]
        if one != other:
            moved = f", which moves {', '.join(whole)}" if whole else ""
            yield f"{before.label} was asked for k = {one} observations a query, {after.label} for k = {other}{moved}"


def _named(contenders: Sequence[Contender]) -> list[tuple[str, Record, str]]:
    """Return what each contender's run is called, the run, and the system of it that is meant; "" for all."""
    loaded: dict[str, Record] = {}
    given: list[tuple[str, Record, str]] = []
    for contender in contenders:
        if isinstance(contender, str | Path):
            path, _, system = (str(contender), "", "") if Path(contender).is_dir() else str(contender).rpartition(":")
            path, system = (path, system) if path else (str(contender), "")
            loaded[path] = loaded.get(path) or as_run(path).record
            given.append((path, loaded[path], system))
        else:
            run, system = contender if isinstance(contender, tuple) else (contender, "")
            given.append((as_run(run).name, run.record, system))
    runs = {id(run): name for name, run, _ in given}
    if len(set(runs.values())) < len(runs):  # two runs of one name
        runs = {identity: f"{number}. {name}" for number, (identity, name) in enumerate(runs.items(), start=1)}
    return [(runs[id(run)], run, system) for _, run, system in given]


def _hanging_on_ties(
    comparisons: Sequence[Comparison], luck: Mapping[str, Luck], table: Callable[[Sequence[Pairing]], list[Comparison]]
) -> Iterator[str]:
    """Yield the differences that do not stand once the winner's ties have the worst order and the loser's the best."""
    if not any(luck.values()):
        return

    def with_luck(results: Results, lucky: bool) -> Results:
        return (luck[results.label] or (results, results))[lucky]

    for after_wins in (True, False):
        pairings = [
            replace(c.pairing, before=with_luck(c.pairing.before, after_wins), after=with_luck(c.pairing.after, not after_wins))
            for c in comparisons
        ]
        for comparison, other in zip(comparisons, table(pairings), strict=True):
            for row, changed in zip(comparison.overall, other.overall, strict=True):
                stands = changed.adjusted < ALPHA and (changed.mean > 0) == after_wins
                if row.adjusted < ALPHA and (row.mean > 0) == after_wins and not stands:
                    yield (
                        f"{row.measure} of {comparison.pairing.after.label} hangs on ties: with the worst order for the winner and "
                        f"the best for the other the difference is {shifted(changed.mean, changed.measure)}, p {in_words(changed.adjusted)}"
                    )


def _on_labels(comparison: Comparison, queries: Mapping[str, Query], test: Test) -> Iterator[str]:
    """Yield how much of either side was judged where that differs, and for what is shown how few relevant holes would undo it."""
    pairing = comparison.pairing
    if told := judged_change(pairing, queries):
        yield f"judged@{DEPTH} of {pairing.after.label}: {told}"
    for row in comparison.overall:
        if row.adjusted >= ALPHA:
            continue
        within = pairing.within("", row.measure)
        stands = still_shown(row, pairing.clusters(within), test)
        better = direction(row.measure) * (1 if row.mean > 0 else -1)
        if found := holes(pairing, row.measure, within, queries, better, stands):
            yield f"{row.measure} of {pairing.after.label}: {sensitivity(found, 'for the difference not to be shown')}"


def _sides_of(comparison: Comparison) -> dict[str, str]:
    return {"before": comparison.pairing.before.label, "after": comparison.pairing.after.label}


def _pair(values: tuple[float, float]) -> dict[str, float]:
    return {"value_before": values[0], "value_after": values[1], "difference": values[1] - values[0]}


def _flat(row: Difference) -> dict[str, Any]:
    """Return a difference with its interval's bounds as columns of their own."""
    values = {name: value for name, value in vars(row).items() if name not in ("interval", "before", "after", "mean")}
    means = {"mean_before": row.before, "mean_after": row.after, "difference": row.mean, "low": row.interval.low, "high": row.interval.high}
    return {"measure": values.pop("measure"), "category": values.pop("category"), "n": values.pop("n"), **means, **values}
