"""`recallmeter baseline`: keep a run as what later runs are held against."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from ...datasets.errors import InputError
from ...datasets.file import is_stream
from ...evaluation.judging.baseline import Baseline, baseline_of, read_baseline, replaced, rolled, write_baseline
from ...evaluation.measures.numbers import amount
from ...evaluation.record import load_run
from ...reports.table import aligned

WRITES_SHARES = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("run", metavar="RUN", help="a run directory")
    parser.add_argument("-o", "--output", metavar="FILE", default="baseline.json", help="the baseline (default baseline.json)")
    parser.add_argument("--system", action="append", dest="systems", metavar="NAME", help="keep this system; repeat for more; default all")
    parser.add_argument("--roll", action="store_true", help="go on from an existing baseline; its anchor, which gates test too, stays")
    raised = "raise an existing baseline; refused unless a gain is shown and no mean falls"
    parser.add_argument("--ratchet", action="store_true", help=raised)
    parser.add_argument("--reason", metavar="TEXT", default="", help="replace an existing baseline, lower or not; TEXT is kept in it")


def execute(arguments: argparse.Namespace) -> int:
    """Write the baseline, unless there is one that may not be replaced; print what it holds, except into a pipe."""
    path, baseline = Path(arguments.output), _chosen(baseline_of(load_run(arguments.run)), arguments.systems)
    if path.exists() and not is_stream(path):
        reason = " ".join(arguments.reason.split())
        if sum(map(bool, (arguments.roll, arguments.ratchet, reason))) > 1 and arguments.roll:
            raise InputError("--roll keeps the anchor, the others make a new one", where="--roll", remedy="give one of them")
        there = read_baseline(path)
        baseline = rolled(there, baseline) if arguments.roll else replaced(there, baseline, ratchet=arguments.ratchet, reason=reason)
    write_baseline(baseline, path)
    if is_stream(path):  # it may be where the table below would go
        return 0
    some = next(iter(baseline.systems.values()))
    rows = [["system", *some.values]]
    rows += [[name, *(amount(float(values.mean())) for values in results.values.values())] for name, results in baseline.systems.items()]
    print(aligned(rows))
    print(f"{path}: {len(baseline.systems)} systems, {len(some.queries)} answerable queries")
    return 0


def _chosen(baseline: Baseline, systems: list[str] | None) -> Baseline:
    for name in systems or ():
        if name not in baseline.systems:
            raise InputError(f"there is no system {name!r}", where="--system", remedy=f"there are {', '.join(baseline.systems)}")
    return replace(baseline, systems={name: results for name, results in baseline.systems.items() if not systems or name in systems})
