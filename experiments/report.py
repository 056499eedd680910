"""`recallmeter report RUN`: what people read, made from a run directory."""

from __future__ import annotations

import argparse
from os.path import realpath
from pathlib import Path

from ..datasets.errors import InputError
from ..datasets.file import is_stream, write_file


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run directory; for --html also several, and folders of sweeps")
    where = "where the Markdown goes (default: report.md); its figures go into figures/ beside it, or here if FILE is a pipe"
    parser.add_argument("-o", "--output", metavar="FILE", help=where)
    parser.add_argument("--html", metavar="FILE", help="write the explorer, one page that opens in any browser; Markdown with -o alone")


def execute(arguments: argparse.Namespace) -> int:
    """Write the report and its figures, or the explorer; print each path."""
    if arguments.html and arguments.output and realpath(arguments.html) == realpath(arguments.output):
        raise InputError("the report and the explorer can't be one file", where=arguments.output, remedy="name two files")
    if arguments.html:
        _write(Path(arguments.html), _explorer([Path(path) for path in arguments.runs]))
    if arguments.output or not arguments.html:
        path = Path(arguments.output or "report.md")
        _write(path, _markdown(arguments.runs, path))
    return 0


def _markdown(runs: list[str], path: Path) -> str:
    from ..evaluation.record import load_run
    from ..reports import preset
    from ..reports.general import write_report

    if len(runs) > 1:
        raise InputError(
            f"a Markdown report is of one run, not of {len(runs)}", where=runs[1], remedy="write the explorer with --html FILE"
        )
    run = load_run(runs[0])
    if "claim" in run.config:
        return preset.render(run)
    # what is written is the end of a link, such as /dev/stdout may be; no folder of figures belongs among devices
    return write_report(run, Path(path.name) if is_stream(path) else Path(realpath(path)))


def _explorer(folders: list[Path]) -> str:
    from ..evaluation.judging.rules import rules_from
    from ..evaluation.record import load_run
    from ..evaluation.sweeps.points import RECORD, read_points
    from ..reports.explorer.assembly import explorer
    from .gate import rules_named

    sweeps = [folder for folder in folders if any(folder.glob(f"*/{RECORD}"))]
    runs = [load_run(folder) for folder in folders if folder not in sweeps]
    return explorer(runs, {folder: read_points([folder]) for folder in sweeps}, rules_from(rules_named("default")))


def _write(path: Path, text: str) -> None:
    write_file(path, text.encode("utf-8", errors="replace"), "the report")
    if not is_stream(path):
        print(path)
