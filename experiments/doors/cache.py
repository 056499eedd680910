"""`recallmeter cache`: what was computed before and is kept, by model, size and age; clear it, and see whether it is sound."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...datasets.errors import InputError
from ...reports.table import aligned
from ...retrieval.cache import Cache, cache_folder
from ...retrieval.embedders.onnx_export import is_sound

EXIT_DAMAGED = 2
CACHES = ("embeddings", "candidates")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Entry(NamedTuple):
    """A line of the table: values of one maker in one cache, or a file; times in seconds."""

    cache: str
    maker: str
    values: int
    size: int
    first: float
    last: float


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door and its commands."""
    parser.set_defaults(command=_list)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    command = commands.add_parser("list", help="show what is kept (the default)")
    command.set_defaults(command=_list)
    command = commands.add_parser("clear", help="remove what is kept, by model, by age or all of it")
    command.add_argument("--model", action="append", metavar="NAME", help="of this model alone, whatever its version; repeat for more")
    command.add_argument("--older-than", metavar="AGE", help="written longer ago than that, such as 12h, 30d or 8w")
    command.add_argument("--all", action="store_true", help="everything")
    command.set_defaults(command=_clear)
    command = commands.add_parser("verify", help="check every value; exit 2 if one is damaged")
    command.set_defaults(command=_verify)


def execute(arguments: argparse.Namespace) -> int:
    """Run one of the commands; return its exit code."""
    return arguments.command(arguments)


def _list(arguments: argparse.Namespace) -> int:
    del arguments
    now, entries = time.time(), list(_entries())
    rows = [["cache", "of", "values", "size", "oldest", "newest"]]
    for e in entries:
        rows.append([e.cache, e.maker, f"{e.values:,}", _size(e.size), _ago(now - e.first), _ago(now - e.last)])
    if entries:
        print(aligned(rows))
    print(f"{cache_folder()}: {sum(e.values for e in entries):,} values, {_size(sum(e.size for e in entries))}")
    return 0


def _clear(arguments: argparse.Namespace) -> int:
    if not (arguments.model or arguments.older_than is not None or arguments.all):
        raise InputError("nothing is chosen", where="cache clear", remedy="say --model NAME, --older-than AGE or --all")
    before = float("inf") if arguments.older_than is None else time.time() - _age(arguments.older_than)
    entries = list(_entries())
    chosen = [e for e in entries if not arguments.model or e.maker in arguments.model or e.maker.partition("@")[0] in arguments.model]
    if arguments.model and not chosen:
        known = ", ".join(dict.fromkeys(e.maker.partition("@")[0] for e in entries)) or "none"
        raise InputError(f"nothing of {arguments.model[0]!r} is kept", where="--model", remedy=f"there are: {known}")
    removed = 0
    for name in CACHES:
        makers = [e.maker for e in chosen if e.cache == name]
        if makers:
            removed += Cache(name).clear(makers, before)
    for e in chosen:
        if e.cache == "onnx" and e.last < before:
            for path in (_onnx() / e.maker, (_onnx() / e.maker).with_suffix(".sha256")):
                path.unlink(missing_ok=True)
            removed += 1
    for path in cache_folder().glob("*.damaged-*") if arguments.all or not arguments.model else ():
        if path.stat().st_mtime < before:
            path.unlink()
            removed += 1
    print(f"{removed:,} values removed")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    del arguments
    faulty = 0
    for name in _there():
        values, damaged = Cache(name).verify()
        print(f"{name}: {values:,} values, {damaged:,} damaged")
        faulty += damaged
    for path in sorted(_onnx().glob("*.onnx")):
        sound = is_sound(path)
        print(f"onnx {path.name}: {'sound' if sound else 'damaged'}")
        faulty += not sound
    if faulty:
        print("what is damaged is not used: it is computed again when it is next needed")
    return EXIT_DAMAGED if faulty else 0


def _entries() -> Iterator[Entry]:
    for name in _there():
        yield from (Entry(name, *kept) for kept in Cache(name).makers())
    for path in sorted(_onnx().glob("*.onnx")):
        stat = path.stat()
        yield Entry("onnx", path.name, 1, stat.st_size, stat.st_mtime, stat.st_mtime)


def _there() -> list[str]:
    return [name for name in CACHES if Cache(name).path.is_file()]


def _onnx() -> Path:
    return cache_folder() / "onnx"


def _age(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text)
    if not found:
        raise InputError(f"{text!r} is no age", where="--older-than", remedy="write a number and s, m, h, d or w, such as 30d")
    return float(found[1]) * UNITS[found[2]]


def _ago(seconds: float) -> str:
    unit = next((name for name in ("w", "d", "h", "m") if seconds >= 2 * UNITS[name]), "s")
    return f"{max(0, seconds) / UNITS[unit]:.0f} {unit}"


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
