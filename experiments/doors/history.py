"""`recallmeter history RUNS`: every measure over time, where it stepped, and how far it is from its anchor."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator, Sequence
from os.path import realpath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...datasets.errors import InputError
from ...datasets.file import is_stream, write_file

if TYPE_CHECKING:
    from ...evaluation.judging.history import History, Moment

WRITES_SHARES = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument(
        "sources", nargs="+", metavar="RUN", help="run directories; also a baseline, or a folder of baselines, as git keeps their history"
    )
    parser.add_argument("-m", "--measure", action="append", dest="measures", help="such as recall@10 (default: recall@10 and ndcg@10)")
    parser.add_argument("--system", action="append", dest="systems", help="only this system; repeat for more")
    parser.add_argument("--anchor", default="", metavar="RUN", help="the run that the others are held against (default: the oldest)")
    parser.add_argument(
        "-o", "--output", default="history.md", metavar="FILE", help="Markdown, or HTML if it ends in .html (default: history.md)"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Write the page, its figures and, for each step, an explorer of the two runs beside it; print the path."""
    from ...evaluation.judging.history import histories
    from ...evaluation.measures.grammar import parse_measure
    from ...reports.formats.writing import write_document
    from ...reports.history import history_report

    moments = [moment for source in arguments.sources for moment in _moments(Path(source))]
    measures = [str(parse_measure(measure)) for measure in arguments.measures or ("recall@10", "ndcg@10")]
    anchor = Path(arguments.anchor).name if arguments.anchor else ""
    found = histories(moments, measures, arguments.systems or (), anchor=anchor)
    output = Path(arguments.output)
    stream = is_stream(output)
    path = Path(output.name) if stream else Path(realpath(output))
    pages = {} if stream else _explorers(found, path)
    form = "html" if path.suffix.lower() in (".html", ".htm") else "markdown"
    write_file(output, write_document(history_report(found, pages), path, form), "the history")
    if not stream:
        print(output)
    return 0


def _moments(source: Path) -> Iterator[Moment]:
    from ...evaluation.judging.history import moment_of
    from ...evaluation.record import MANIFEST, load_run

    if (source / MANIFEST).exists():
        yield moment_of(load_run(source))
    elif source.is_file():
        yield from _kept(source)
    elif source.is_dir():
        files = sorted(source.glob("*.json"))
        if not files:
            raise InputError("neither a run directory nor a folder of baselines", where=str(source), remedy="name what a run wrote")
        for file in files:
            yield from _kept(file)
    else:
        raise InputError("there is nothing here", where=str(source), remedy="name a run directory or a baseline")


def _kept(file: Path) -> Iterator[Moment]:
    """Yield a baseline at every commit that changed it; at a commit that holds another format it is passed over."""
    from ...evaluation.judging.baseline import read_baseline
    from ...evaluation.judging.history import moment_of_baseline

    log = _git(file.parent, "log", "--follow", "--format=%H %cI", "--", file.name)
    with TemporaryDirectory() as folder:
        for line in reversed(log.splitlines()):
            commit, _, when = line.partition(" ")
            copy = Path(folder) / file.name
            try:
                copy.write_text(_git(file.parent, "show", f"{commit}:./{file.name}"), encoding="utf-8")
                yield moment_of_baseline(read_baseline(copy), file, when, commit)
            except InputError:
                continue
    if not log:
        raise InputError("git keeps no history of it", where=str(file), remedy="commit the baseline, or name run directories")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder or "."), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        raise InputError(f"git: {said.strip().splitlines()[-1]}", where=str(folder), remedy="name a file that git keeps") from error
    return done.stdout


def _explorers(found: Sequence[History], path: Path) -> dict[tuple[str, str], str]:
    """Write an explorer of the runs on both sides of each step; return where each is, seen from the page."""
    from ...evaluation.judging.rules import rules_from
    from ...reports.explorer.assembly import explorer
    from ..rules import rules_named

    pages: dict[tuple[str, str], str] = {}
    for history in found:
        for step in history.steps:
            before, after = history.moments[step.at - 1], history.moments[step.at]
            key = (before.label, after.label)
            if key in pages or before.run is None or after.run is None:
                continue
            name = f"{path.stem}-steps/{before.label}..{after.label}.html"
            write_file(path.parent / name, explorer([before.run, after.run], {}, rules_from(rules_named("default"))), "the explorer")
            pages[key] = name
    return pages
