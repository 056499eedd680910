"""`recallmeter report RUN`: what people read, made from a run directory."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from pathlib import Path

from ..datasets.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run directory; for --html also several, and folders of sweeps")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where the Markdown goes (default: report.md); its figures go into figures/ beside it"
    )
    parser.add_argument("--html", metavar="FILE", help="write the explorer, one page that opens in any browser; Markdown with -o alone")


def execute(arguments: argparse.Namespace) -> int:
    """Write the report and its figures, or the explorer; print each path."""
    if arguments.html:
        _write(Path(arguments.html), _explorer([Path(path) for path in arguments.runs]))
    if arguments.output or not arguments.html:
        path = Path(arguments.output or "report.md")
        _write(path, _markdown(arguments.runs, path))
    return 0


def _markdown(runs: list[str], path: Path) -> str:
    from ..evaluation.record import load_run
    from ..reports import preset
    from ..reports.real_embeddings import write_report

    if len(runs) > 1:
        raise InputError(
            f"a Markdown report is of one run, not of {len(runs)}", where=runs[1], remedy="write the explorer with --html FILE"
        )
    run = load_run(runs[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    return preset.render(run) if "claim" in run.config else write_report(run, path)


def _explorer(folders: list[Path]) -> str:
    from ..evaluation.points import RECORD, read_points
    from ..evaluation.record import load_run
    from ..evaluation.rules import rules_from
    from ..reports.explorer import explorer
    from .gate import rules_named

    sweeps = [folder for folder in folders if any(folder.glob(f"*/{RECORD}"))]
    runs = [load_run(folder) for folder in folders if folder not in sweeps]
    return explorer(runs, {folder: read_points([folder]) for folder in sweeps}, rules_from(rules_named("default")))


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all, and print its path."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8", errors="replace")
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise InputError(f"the report can't be written ({error.strerror})", where=str(path), remedy="write elsewhere") from error
    print(path)
