"""`recallmeter leaderboard DIR…`: the points of sweeps at a glance."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...datasets.errors import InputError
from ...datasets.file import write_file

WRITES_SHARES = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("folders", nargs="+", metavar="DIR", help="folders that `recallmeter sweep` wrote")
    parser.add_argument("-m", "--measure", default="recall@10", help="what is ranked (default: recall@10)")
    parser.add_argument("--system", help="only this system")
    parser.add_argument("--by", action="append", metavar="PARAMETER", help="one row a value of it, averaged over the others; repeatable")
    parser.add_argument("--top", type=int, default=20, metavar="N", help="rows shown in the terminal and in Markdown (default: 20)")
    parser.add_argument("--figures", metavar="DIR", help="draw the Pareto front, and lines or a heat map of the parameters")
    parser.add_argument("--front", metavar="FILE", help="write the rows of the Pareto front as CSV")
    parser.add_argument("--select-on", type=float, metavar="SHARE", help="rank on so many of the queries, and report the others beside")
    parser.add_argument("--split-seed", type=int, default=0, metavar="N", help="which of the queries those are (default: 0)")
    form = parser.add_mutually_exclusive_group()
    for name in ("markdown", "latex", "csv", "json"):
        form.add_argument(f"--{name}", action="store_true", help=f"print as {name}")


def execute(arguments: argparse.Namespace) -> int:
    """Print the leaderboard in the chosen form."""
    if arguments.top < 1:
        raise InputError(f"{arguments.top} rows can't be shown", where="--top", remedy="give 1 or more")
    from ...evaluation.measures.grammar import parse_measure
    from ...evaluation.sweeps.leaderboard import Leaderboard
    from ...evaluation.sweeps.points import read_points
    from ...evaluation.sweeps.split import split
    from ...reports import leaderboard as report
    from ...reports.table import aligned, markdown

    points = read_points([Path(folder) for folder in arguments.folders])
    measure, held = str(parse_measure(arguments.measure)), None
    if arguments.select_on is not None:
        if not 0 < arguments.select_on < 1:
            raise InputError(f"{arguments.select_on:g} is not a share", where="--select-on", remedy="give a number between 0 and 1")
        points, others = split(points, arguments.select_on, seed=arguments.split_seed)
        held = Leaderboard(others, measure, system=arguments.system, by=arguments.by)
    board = Leaderboard(points, measure, system=arguments.system, by=arguments.by)
    if arguments.figures:
        for path in report.draw(board, Path(arguments.figures)):
            print(path, file=sys.stderr)
    if arguments.front:
        write_file(Path(arguments.front), _csv([row for row in report.records(board) if row["pareto"]]), "the table")
        print(arguments.front, file=sys.stderr)
    if arguments.json:
        print(
            json.dumps(
                {"measure": board.measure, "failed": board.failed, "corrected": board.corrected, "rows": report.records(board, held)},
                indent=1,
                default=str,
            )
        )
    elif arguments.csv:
        print(_csv(report.records(board, held)), end="")
    else:
        written = markdown if arguments.markdown else _latex if arguments.latex else aligned
        print(written(report.table(board, arguments.top, held)))
        if len(board.rows) > arguments.top:
            print(f"\n{len(board.rows) - arguments.top} more rows; --top N shows them")
        for line in report.notes(board, held):
            print(f"\n{line}")
        if board.crossed:
            print("\n" + written(report.effects_table(board)))
        if board.failed:
            print(f"\n{board.failed} points failed and are left out")
        if board.replaced:
            print(f"\n{board.replaced} points are left out, since a later one has the same parameters")
    return 0


def _latex(rows: Sequence[Sequence[str]]) -> str:
    """Return a table as booktabs sets it."""
    from ...reports.formats.latex import table

    return "\n".join(table(rows, (1,)))


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
