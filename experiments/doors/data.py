"""`recallmeter data`: list what can be loaded, build the synthetic data set, check any data set, import another format."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from ...datasets.errors import InputError
from ...datasets.faults import Severity
from ...evaluation.exit_code import ExitCode
from ..paths import CONF

SHOWN = 3
"""Examples of a finding that the table shows, or one of each variant where there are more; --json has further ones."""

WIDEST = 110
"""Characters of a line of the file that are shown."""

TABLE = ("questions", "relevant", "id", "text", "time", "session", "separator", "query", "questions_query")
"""The options that say how a table is read."""

T = TypeVar("T")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door's four commands."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = commands.add_parser("list", help="show what dataset=… takes, and what an extra would add")
    command.set_defaults(command=_list)

    command = commands.add_parser("build", help="write the synthetic data set as JSONL and, in beir/, in BEIR layout")
    command.add_argument("name", choices=["webapp"])
    command.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="a folder that is empty or not there yet")
    command.add_argument("--sessions", type=int, default=30, metavar="N")
    command.add_argument("--observations-per-session", type=int, default=8, metavar="N")
    command.add_argument("--seed", type=int, default=0, metavar="N")
    command.set_defaults(command=_build)

    command = commands.add_parser("check", help="tell what is wrong with a data set; exit 2 when there is an error")
    command.add_argument("source", metavar="PATH", help="a folder or file; of a catalogue, the name")
    _takes_format(command.add_argument, "--format", help="how it is written; told from the files unless given")
    command.add_argument("--errata", metavar="FILE", help="corrections to lay over the labels first")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="an option of the format, as in its YAML: split=train"
    )
    command.set_defaults(command=_check)

    command = commands.add_parser("import", help="convert another format into our own JSONL")
    _takes_format(command.add_argument, "format")
    command.add_argument("source", metavar="PATH", nargs="?", help="a folder or file; of a catalogue, the name")
    command.add_argument("-o", "--output", type=Path, metavar="DIR", help="a folder that is empty or not there yet")
    command.add_argument("--errata", metavar="FILE", help="corrections to lay over the labels")
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="an option of the format, as in its YAML: granularity=turn"
    )
    table = command.add_argument_group("of a table", "what was understood is shown, and what is wrong with it, before anything is written")
    table.add_argument("--questions", metavar="FILE", help="the questions: CSV, TSV, JSON, JSONL or Parquet, as the memories")
    table.add_argument("--relevant", metavar="COLUMN|FILE", help="the questions' column of the ids that answer, or a file of judgments")
    for what in ("id", "text", "time", "session"):
        table.add_argument(f"--{what}", metavar="COLUMN", help=f"the memories' column of the {what}; told from its name unless given")
    table.add_argument("--separator", metavar="TEXT", help="between the ids of one cell; any of comma, semicolon, bar, space unless given")
    table.add_argument("--from", dest="database", metavar="URL", help="read a database: sqlite:///file.db or postgresql://user@host/name")
    table.add_argument("--query", metavar="SQL", help="what the database is asked for memories")
    table.add_argument("--questions-query", metavar="SQL", help="what it is asked for questions")
    table.add_argument("--dry-run", action="store_true", help="show what was understood, and write nothing")
    command.set_defaults(command=_import)


def execute(arguments: argparse.Namespace) -> int:
    """Run one of the commands; return its exit code."""
    return arguments.command(arguments)


def _takes_format(add: Any, name: str, **settings: Any) -> None:
    from ...datasets.formats.catalogue import FORMATS

    add(name, choices=FORMATS, metavar="FORMAT", **{"help": f"one of {', '.join(FORMATS)}", **settings})


def _list(arguments: argparse.Namespace) -> int:
    rows = []
    for path in sorted((CONF / "dataset").glob("*.yaml")):
        described, needs = _header(path)
        module = needs.partition(" ")[0]
        missing = f"  [not installed: {needs}]" if needs and not _installed(module) else ""
        rows.append((path.stem, f"{described}{missing}"))
    width = max(len(name) for name, _ in rows)
    print("\n".join(f"{name:<{width}}  {what}" for name, what in rows))
    print("\nUse one as `recallmeter run dataset=NAME dataset.path=…`, or convert it with `recallmeter data import`.")
    return 0


def _header(path: Path) -> tuple[str, str]:
    """Return what the first comment of a configuration says, and the package that it needs, if any."""
    lines = [line.removeprefix("#").strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    described = next((line for line in lines if not line.startswith(("@", "needs:"))), "")
    needs = next((line.removeprefix("needs:").strip() for line in lines if line.startswith("needs:")), "")
    return described, needs


def _installed(module: str) -> bool:
    spec = find_spec(module)
    return spec is not None and spec.origin is not None  # without an origin it is a folder of that name, not the package


def _build(arguments: argparse.Namespace) -> int:
    from ...datasets.folder import new_folder
    from ...datasets.formats.beir import write_beir
    from ...datasets.formats.jsonl import write_jsonl
    from ...datasets.webapp import LICENCE, stream_observations, stream_queries

    size = arguments.sessions, arguments.observations_per_session, arguments.seed
    total = arguments.sessions * arguments.observations_per_session
    with new_folder(arguments.output) as folder:
        write_jsonl(folder, "webapp", _with_progress(stream_observations(*size), "JSONL", total), stream_queries(*size), LICENCE)
        (folder / "beir").mkdir()
        write_beir(folder / "beir", _with_progress(stream_observations(*size), "BEIR", total), stream_queries(*size))
    print(arguments.output)
    return 0


def _with_progress(items: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
    """Show how far it got, on a terminal only."""
    if not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    return tqdm(items, desc=what, total=total, unit=" observations", leave=False)


def _check(arguments: argparse.Namespace) -> int:
    from ...datasets.checks.check import check
    from ...datasets.formats.catalogue import detect, loader, reader
    from ...datasets.formats.jsonl import describe

    name = arguments.format or detect(Path(arguments.source))
    read, source = reader(name), _source(name, arguments.source)
    options = _options(loader(name), arguments.set)
    report = check(
        lambda faults: read(source, faults, **options),
        name=describe(source)["name"] if name == "jsonl" else str(arguments.source),
        fingerprint=describe(source)["fingerprint"] if name == "jsonl" else "",
        errata=arguments.errata,
    )
    told = json.dumps(report.as_record(), indent=2) if arguments.json else _table(report, name, str(source))
    print(told.encode(errors="backslashreplace").decode())  # a faulty id may hold what cannot be printed
    return ExitCode.USAGE if report.failed else ExitCode.PASS


def _source(name: str, given: str) -> Any:
    return given if name in ("ir_datasets", "hugging_face") else Path(given)


def _table(report: Any, name: str, source: str) -> str:
    counts = report.counts
    lines = [
        f"{report.name} ({name}): observations {counts['observations']:,}, scopes {counts['scopes']:,}, queries {counts['queries']:,}, "
        f"answerable {counts['answerable']:,}, judgments {counts['judgments']:,}"
    ]
    lines += [f"  {what} {report.measures[key]:.1%}" for key, what in _MEASURES.items() if key in report.measures]
    shown = [(finding, finding.examples[: max(SHOWN, len(finding.firsts))]) for finding in report.findings]
    written = _lines(example.where for finding, examples in shown if finding.kind.severity is not Severity.NOTE for example in examples)
    for finding, examples in shown:
        lines.append(f"{finding.kind.severity.value:<7} {finding.count:>7,} × {finding.kind.name}: {finding.kind.remedy}")
        for example in examples:
            place = example.where.removeprefix(source).lstrip("/: ")
            lines.append(f"{'':<18}{place and f'{place}: '}{example.what}")
            if example.where in written and finding.kind.severity is not Severity.NOTE:
                lines.append(f"{'':<18}| {written[example.where]}")
    if not report.findings:
        lines.append("nothing found")
    return "\n".join(lines)


def _lines(places: Iterable[str]) -> dict[str, str]:
    """Return what stands at each place that is a line of a file, as it is written there."""
    from ...datasets.faults import Collected
    from ...datasets.reading import read_lines

    wanted = set(places)
    files = {path for path, _, number in (place.rpartition(":") for place in wanted) if number.isdecimal() and Path(path).is_file()}
    found = {at: text for path in sorted(files) for at, text in read_lines(Path(path), Collected()) if at in wanted}
    return {at: text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…" for at, text in found.items()}


_MEASURES = {
    "recall@5": "best attainable R@5",
    "recall@10": "best attainable R@10",
    "concepts_recall@10": "R@10 of a keyword match on concepts alone",
    "near_twins": "observations with a near twin",
}


def _import(arguments: argparse.Namespace) -> int:
    from ...datasets.folder import new_folder
    from ...datasets.formats.catalogue import loader
    from ...datasets.formats.jsonl import write_jsonl

    load = loader(arguments.format)
    options, source = _options(load, arguments.set), arguments.database or arguments.source
    given = {name: value for name in TABLE if (value := getattr(arguments, name))}
    if arguments.format == "table":
        options |= given
    elif given or arguments.database or arguments.dry_run:
        raise InputError("these options are of a table", where=f"data import {arguments.format}", remedy="use --set KEY=VALUE")
    if not source:
        raise InputError("nothing to import", where="PATH", remedy="name a folder or file")
    if not arguments.output and not arguments.dry_run:
        raise InputError("no place to write to", where="-o", remedy="name a folder that is empty or not there yet")
    if arguments.format == "table":
        preview(source, options, arguments.errata)
    if arguments.dry_run:
        return 0
    with new_folder(arguments.output) as folder:
        dataset = load(source, errata=arguments.errata, **options)
        observations = _with_progress(dataset.observations, "writing", len(dataset.observations))
        write_jsonl(folder, dataset.name, observations, dataset.queries, dataset.licence)
    print(arguments.output)
    return 0


def preview(source: str, options: dict[str, Any], errata: str | None = None) -> None:
    """Print what the tables are read as, and what is wrong with them."""
    from ...datasets.checks.check import check
    from ...datasets.faults import Collected
    from ...datasets.formats.table import name_of, tables_of

    tables = tables_of(source, faults=Collected(), **options)
    report = check(tables.read, name=name_of(source), errata=errata)
    told = "\n".join([*tables.told(), "", _table(report, "table", "")])
    print(told.encode(errors="backslashreplace").decode())


def _options(function: Any, given: Sequence[str]) -> dict[str, Any]:
    """Return KEY=VALUE pairs as the options of a format, each value read as YAML."""
    from inspect import signature

    import yaml

    known = [name for name in list(signature(function).parameters)[1:] if name not in ("faults", "errata")]
    options = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or key not in known:
            raise InputError(f"no option {pair!r}", where="--set", remedy=f"there are: {', '.join(known) or 'none'}")
        try:
            options[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InputError(f"the value of {key} is not valid YAML", where=f"--set {pair}", remedy="put it in quotes") from error
    return options
