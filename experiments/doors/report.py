"""`recallmeter report RUN`: what people read, made from a run directory."""

from __future__ import annotations

import argparse
from os.path import realpath
from pathlib import Path

from ...datasets.errors import InputError
from ...datasets.file import is_stream

WRITES_SHARES = True
FORMATS = ("markdown", "html", "latex", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run directory; for --html also several, and folders of sweeps")
    where = "where the report goes (default: report.md); its figures go into figures/ beside it, or here if FILE is a pipe"
    parser.add_argument("-o", "--output", metavar="FILE", help=where)
    form = "of the report (default: what the ending of FILE says, else markdown); figures are written as SVG and PNG"
    parser.add_argument("--format", choices=FORMATS, help=form)
    parser.add_argument("--html", metavar="FILE", help="write the explorer, one page that opens in any browser; a report with -o alone")


def execute(arguments: argparse.Namespace) -> int:
    """Write the report and its figures, or the explorer; print each path."""
    from ...reports.formats.writing import ENDINGS
    from ..api.runs import read_run, write_explorer, write_report

    if arguments.html and arguments.output and realpath(arguments.html) == realpath(arguments.output):
        raise InputError("the report and the explorer can't be one file", where=arguments.output, remedy="name two files")
    if arguments.html:
        _told(write_explorer(arguments.runs, Path(arguments.html)))
    if arguments.output or arguments.format or not arguments.html:
        if len(arguments.runs) > 1:
            what = f"a report is of one run, not of {len(arguments.runs)}"
            raise InputError(what, where=arguments.runs[1], remedy="write the explorer with --html FILE")
        path = Path(arguments.output or f"report{ENDINGS[arguments.format or 'markdown']}")
        _told(write_report(read_run(arguments.runs[0]), path, arguments.format))
    return 0


def _told(path: Path) -> None:
    if not is_stream(path):
        print(path)
