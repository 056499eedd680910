"""The formats by name: for each, the loader and the reader of the module that is called so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..faults import Collected, Placed
from ..model import Dataset
from ..reading import read_array, read_objects

FORMATS = ("jsonl", "beir", "trec", "agentmemory", "longmemeval", "locomo", "ir_datasets", "hugging_face", "table")


def loader(name: str) -> Callable[..., Dataset]:
    """Return ``load_<name>``.

    Raises:
        InputError: there is no such format.
    """
    return getattr(_module(name), f"load_{name}")


def reader(name: str) -> Callable[..., Iterable[Placed]]:
    """Return ``read_<name>``, which takes the path and the faults first.

    Raises:
        InputError: there is no such format.
    """
    return getattr(_module(name), f"read_{name}")


def _module(name: str) -> Any:
    if name not in FORMATS:
        raise InputError(f"no format {name!r}", where="format", remedy=f"there are: {', '.join(FORMATS)}")
    return import_module(f".{name}", __package__)


def detect(path: Path) -> str:
    """Return the format of a folder or file, told by its files' names and its first record.

    Raises:
        InputError: it cannot be told.
    """
    names = {entry.name.removesuffix(".gz") for entry in path.iterdir()} if path.is_dir() else set()
    if "corpus.jsonl" in names:
        return "beir"
    if "observations.jsonl" in names:
        first = next((raw for _, raw in read_objects(path / "observations.jsonl", Collected())), {})
        return "agentmemory" if "sessionId" in first else "jsonl"
    if any(name.startswith("qrels") for name in names):
        return "trec"
    if path.is_file():
        first = next((raw for _, raw in islice(read_array(path, Collected()), 1)), None)
        for name, field in (("longmemeval", "haystack_sessions"), ("locomo", "conversation")):
            if first and field in first:
                return name
        if _is_dump(path):
            return "agentmemory"
        if path.name.removesuffix(".gz").endswith((".csv", ".tsv", ".parquet")):
            return "table"
    elif not path.is_dir():
        raise InputError("no such file or folder", where=str(path), remedy="check the path")
    raise InputError("can't tell the format", where=str(path), remedy=f"name it with --format: {', '.join(FORMATS)}")


def _is_dump(path: Path) -> bool:
    try:
        dump = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(dump, dict) and "observations" in dump
