"""`recallmeter compare`: systems of one run, or of several, side by side."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ...datasets.errors import InputError
from ...evaluation.judging.changes import changes
from ...evaluation.judging.compare import DEPTH, Comparison, Pairing, Results, compare, over_ties, pair, results_of
from ...evaluation.measures.grammar import parse_measure
from ...evaluation.record import Run, load_run
from ...reports.comparison import CORRECTIONS, TESTS, document, legend, record, text
from ...reports.table import HEADLINE

ALPHA = 0.05


class _Contender(NamedTuple):
    run: Run
    system: str
    label: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument(
        "contenders",
        nargs="+",
        metavar="RUN[:SYSTEM]",
        help="one run: its systems against its first; several: each against the first, system by system of the same name",
    )
    parser.add_argument("-m", "--measure", action="append", dest="measures", help="such as recall@10; repeat for more")
    parser.add_argument("--test", choices=sorted(TESTS), default="randomisation", help="how p is computed, always paired by query")
    parser.add_argument("--correction", choices=sorted(CORRECTIONS), default="holm", help="for looking at many rows at once")
    parser.add_argument("--queries", type=int, default=10, metavar="N", help="show so many of the queries that changed (default 10)")
    parser.add_argument("--allow-different-queries", action="store_true", help="compare the queries that both have, and say how many")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON: full precision and every changed query")
    output.add_argument("--markdown", action="store_true", help="print Markdown")


def execute(arguments: argparse.Namespace) -> int:
    """Print the comparison; 0 whatever it says."""
    if arguments.queries < 0:
        raise InputError(f"{arguments.queries} queries can't be shown", where="--queries", remedy="give 0 or more")
    sides = _sides(arguments.contenders)
    results = {side.label: results_of(side.run, side.system, label=side.label) for two in sides for side in two}
    pairings = [
        pair(results[before.label], results[after.label], allow_different=arguments.allow_different_queries) for before, after in sides
    ]
    measures = [str(parse_measure(measure)) for measure in arguments.measures or ()]
    measures = measures or [measure for measure in HEADLINE if all(measure in pairing.measures for pairing in pairings)]
    table = partial(compare, measures=measures, test=arguments.test, correction=arguments.correction, alpha=ALPHA)
    comparisons = table(pairings)
    ties = list(_hanging_on_ties(comparisons, sides, measures, table))
    queries = [before.run.queries | after.run.queries for before, after in sides]
    changed = [changes(pairing, measures, known, depth=DEPTH) for pairing, known in zip(pairings, queries, strict=True)]
    both = list(zip(comparisons, changed, strict=True))
    if arguments.json:
        found = {"test": arguments.test, "correction": arguments.correction, "alpha": ALPHA, "ties": ties}
        print(json.dumps({**found, "comparisons": [record(*one) for one in both]}, indent=1, ensure_ascii=False))
        return 0
    write = document if arguments.markdown else text
    parts = [write(comparison, found, arguments.queries) for comparison, found in both]
    parts += ["\n".join(f"note: {line}" for line in ties), legend(arguments.test, arguments.correction)]
    print("\n\n".join(filter(None, parts)))
    return 0


def _sides(contenders: Sequence[str]) -> list[tuple[_Contender, _Contender]]:
    """Return who is held against whom."""
    loaded: dict[str, Run] = {}
    named = []
    for contender in contenders:
        path, _, system = (contender, "", "") if Path(contender).is_dir() else contender.rpartition(":")
        path = path or contender
        loaded[path] = loaded.get(path) or load_run(path)
        named.append((path, system if path != contender else ""))
    several = len(loaded) > 1

    def contender_of(path: str, system: str) -> _Contender:
        return _Contender(loaded[path], system, f"{path}:{system}" if several else system)

    (first, first_system), *rest = named
    if not rest:
        systems = loaded[first].systems
        if first_system or len(systems) < 2:
            raise InputError("there is nothing to compare it with", where=contenders[0], remedy="name another RUN[:SYSTEM]")
        return [(contender_of(first, systems[0]), contender_of(first, system)) for system in systems[1:]]
    sides = []
    for path, system in rest:
        afters = [system] if system else [s for s in loaded[path].systems if first_system or s in loaded[first].systems]
        pairs = [(first_system or after, after) for after in afters]
        if not pairs:
            raise InputError(f"no system of it is in {first}", where=path, remedy="name one of each as RUN:SYSTEM")
        sides += [(contender_of(first, before), contender_of(path, after)) for before, after in pairs]
    return sides


def _hanging_on_ties(
    comparisons: Sequence[Comparison],
    sides: Sequence[tuple[_Contender, _Contender]],
    measures: Sequence[str],
    table: Callable[[Sequence[Pairing]], list[Comparison]],
) -> Iterator[str]:
    """Yield the differences that do not stand once the winner's ties have the worst order and the loser's the best."""
    extremes: dict[str, tuple[Results, Results] | None] = {}
    for comparison, two in zip(comparisons, sides, strict=True):
        for side, results in zip(two, (comparison.pairing.before, comparison.pairing.after), strict=True):
            if side.label not in extremes:
                extremes[side.label] = over_ties(results, side.run, side.system, measures)
    if not any(extremes.values()):
        return

    def with_luck(results: Results, lucky: bool) -> Results:
        return (extremes[results.label] or (results, results))[lucky]

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
                        f"the best for the other the difference is {100 * changed.mean:+.1f} pp, p = {changed.adjusted:.3f}"
                    )
