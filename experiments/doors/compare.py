"""`recallmeter compare`: systems of one run, or of several, side by side."""

from __future__ import annotations

import argparse
import json

from ...datasets.errors import InputError
from ...reports.comparison import CORRECTIONS, TESTS
from ..api.comparing import SHOWN, compare
from ..api.scoring import by_name

WRITES_SHARES = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument(
        "contenders",
        nargs="+",
        metavar="RUN[:SYSTEM]",
        help="one run: its systems against its first; several: each against the first, system by system of the same name",
    )
    parser.add_argument("--qrels", metavar="FILE", help="judgments: the runs are TREC or JSON files, each held against the first")
    parser.add_argument("-m", "--measure", action="append", dest="measures", help="such as recall@10; repeat for more")
    parser.add_argument("--test", choices=sorted(TESTS), default="randomisation", help="how p is computed, always paired by query")
    parser.add_argument("--correction", choices=sorted(CORRECTIONS), default="holm", help="for looking at many rows at once")
    parser.add_argument(
        "--queries", type=int, default=SHOWN, metavar="N", help=f"show so many of the queries that changed (default {SHOWN})"
    )
    parser.add_argument("--allow-different-queries", action="store_true", help="compare the queries that both have, and say how many")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON: full precision and every changed query")
    output.add_argument("--markdown", action="store_true", help="print Markdown")
    output.add_argument("--latex", action="store_true", help="print a table for a paper: booktabs, letters where a difference is shown")
    output.add_argument("--csv", action="store_true", help="print a row a pair and measure as CSV, in full precision")


def execute(arguments: argparse.Namespace) -> int:
    """Print the comparison; 0 whatever it says."""
    if arguments.queries < 0:
        raise InputError(f"{arguments.queries} queries can't be shown", where="--queries", remedy="give 0 or more")
    asked = {"measures": arguments.measures or (), "test": arguments.test, "correction": arguments.correction}
    if arguments.qrels is None:
        found = compare(*arguments.contenders, **asked, allow_different_queries=arguments.allow_different_queries)
    else:
        from ..api.ranked_files import compare_files

        found = compare_files(arguments.qrels, by_name(arguments.contenders), **asked)
    if arguments.json:
        print(json.dumps(found.as_record(), indent=1, ensure_ascii=False))
    elif arguments.csv:
        print(found.summary().to_csv(index=False), end="")
    elif arguments.latex:
        print(found.latex(), end="")
    else:
        print(found.markdown(arguments.queries) if arguments.markdown else found.text(arguments.queries))
    return 0
