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
    apart = parser.add_mutually_exclusive_group()
    apart.add_argument("--select-on", type=float, metavar="SHARE", help="rank on so many of the queries, and report the others beside")
    apart.add_argument("--report-on", type=float, metavar="SHARE", help="the same by the share of the others")
    apart.add_argument("--reveal", action="store_true", help="report the queries beside that sweep.holdout held back, which is counted")
    parser.add_argument("--split-seed", type=int, default=0, metavar="N", help="which of the queries those are (default: 0)")
    form = parser.add_mutually_exclusive_group()
    for name in ("markdown", "latex", "csv", "json"):
        form.add_argument(f"--{name}", action="store_true", help=f"print as {name}")


def execute(arguments: argparse.Namespace) -> int:
    """Print the leaderboard in the chosen form."""
    if arguments.top < 1:
        raise InputError(f"{arguments.top} rows can't be shown", where="--top", remedy="give 1 or more")
    from ...evaluation.sweeps.split import check_share
    from ...reports import leaderboard as report
    from ...reports.table import aligned, markdown
    from ..api.sweeping import leaderboard

    select_on = arguments.select_on
    if arguments.report_on is not None:
        check_share(arguments.report_on, "--report-on")
        select_on = 1 - arguments.report_on
    ranked = leaderboard(
        *arguments.folders,
        measure=arguments.measure,
        system=arguments.system,
        by=arguments.by,
        select_on=select_on,
        split_seed=arguments.split_seed,
        reveal=arguments.reveal,
    )
    board, held = ranked.board, ranked.held
    if arguments.figures:
        for path in report.draw(board, Path(arguments.figures)):
            print(path, file=sys.stderr)
    if arguments.front:
        write_file(Path(arguments.front), _csv([row for row in report.records(board) if row["pareto"]]), "the table")
        print(arguments.front, file=sys.stderr)
    if arguments.json:
        print(
            json.dumps(
                {
                    "measure": board.measure,
                    "failed": board.failed,
                    "corrected": board.corrected,
                    "notes": ranked.notes,
                    "rows": report.records(board, held),
                },
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
        for line in ranked.notes:
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
