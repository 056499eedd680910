"""`recallmeter report RUN`: what people read, made from a run directory."""

from __future__ import annotations

import argparse
from os.path import realpath
from pathlib import Path

from ...datasets.errors import InputError
from ...datasets.file import is_stream, write_file

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
    if arguments.html and arguments.output and realpath(arguments.html) == realpath(arguments.output):
        raise InputError("the report and the explorer can't be one file", where=arguments.output, remedy="name two files")
    if arguments.html:
        _write(Path(arguments.html), _explorer([Path(path) for path in arguments.runs]))
    if arguments.output or arguments.format or not arguments.html:
        path = Path(arguments.output or f"report{_endings()[arguments.format or 'markdown']}")
        _write(path, _report(arguments.runs, path, arguments.format))
    return 0


def _endings() -> dict[str, str]:
    from ...reports.formats.writing import ENDINGS

    return ENDINGS


def _report(runs: list[str], path: Path, form: str | None) -> str:
    from ...evaluation.record import load_run
    from ...reports.formats.writing import report_text

    if len(runs) > 1:
        raise InputError(f"a report is of one run, not of {len(runs)}", where=runs[1], remedy="write the explorer with --html FILE")
    return report_text(load_run(runs[0]), path, form)


def _explorer(folders: list[Path]) -> str:
    from ...evaluation.judging.rules import rules_from
    from ...evaluation.record import load_run
    from ...evaluation.sweeps.points import RECORD, read_points
    from ...reports.explorer.assembly import explorer
    from ..rules import rules_named

    sweeps = [folder for folder in folders if any(folder.glob(f"*/{RECORD}"))]
    runs = [load_run(folder) for folder in folders if folder not in sweeps]
    return explorer(runs, {folder: read_points([folder]) for folder in sweeps}, rules_from(rules_named("default")))


def _write(path: Path, text: str) -> None:
    write_file(path, text.encode("utf-8", errors="replace"), "the report")
    if not is_stream(path):
        print(path)
