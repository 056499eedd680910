"""TREC: topics, judgments and documents, each a file of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..errors import InputError
from ..faults import BAD_VALUE, BROKEN, FIELD_NOT_READ, MISSING_FIELD, Faults, Placed
from ..model import EPOCH, Dataset, Observation, Query
from ..reading import read_lines, read_objects, source_name
from .qrels import read_qrels

_NAMES = {"topics": ("topics", "queries"), "qrels": ("qrels",), "documents": ("documents", "collection", "corpus", "docs")}
_ID = ("docno", "docid", "doc_id", "_id", "id")
_TEXT = ("text", "contents", "body")


def load_trec(
    path: str, topics: str | None = None, qrels: str | None = None, documents: str | None = None, errata: str | None = None
) -> Dataset:
    """Load a TREC folder: topics (TSV, or ``<top>`` blocks), qrels, and documents (TSV or JSONL), each plain or gzip.

    Args:
        path: the folder.
        topics, qrels, documents: file names in the folder; found by how they begin when not given.
        errata: a file of corrections to lay over the labels.

    Raises:
        InputError: a file is missing or not to be told from another, or anything that `read_trec` reports as an error.
    """
    folder = Path(path)
    dataset = load(lambda faults: read_trec(folder, faults, topics, qrels, documents), name=source_name(folder))
    return corrected(dataset, errata)


def read_trec(
    folder: Path, faults: Faults, topics: str | None = None, qrels: str | None = None, documents: str | None = None
) -> Iterator[Placed]:
    """Yield every record of a TREC folder: documents, topics, judgments."""
    named = {"topics": topics, "qrels": qrels, "documents": documents}
    found = {part: folder / name if name else _found(folder, part) for part, name in named.items()}
    yield from _documents(found["documents"], faults)
    for where, identifier, text in _topics(found["topics"], faults):
        if query := fields.construct(Query, {"id": identifier, "text": text}, where, faults):
            yield Placed(where, query)
    yield from read_qrels(found["qrels"], faults)


def _found(folder: Path, part: str) -> Path:
    if not folder.is_dir():
        raise InputError("no such folder", where=str(folder), remedy="check the path")
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name.lower().startswith(_NAMES[part]))
    if len(files) != 1:
        told = " and ".join(file.name for file in files) or f"no file whose name begins with {' or '.join(_NAMES[part])}"
        raise InputError(f"can't tell which file holds the {part}: {told}", where=str(folder), remedy=f"name it with {part}=FILE")
    return files[0]


def _documents(path: Path, faults: Faults) -> Iterator[Placed]:
    rows = _json_documents(path, faults) if ".json" in path.suffixes or ".jsonl" in path.suffixes else _table_documents(path, faults)
    for where, identifier, title, text in rows:
        values = {"id": identifier, "session_id": "", "timestamp": EPOCH, "type": "document", "title": title, "narrative": text}
        if observation := fields.construct(Observation, values, where, faults):
            yield Placed(where, observation)


def _json_documents(path: Path, faults: Faults) -> Iterator[tuple[str, str, str, str]]:
    for where, raw in read_objects(path, faults):
        identifier, text = (next((raw[name] for name in names if name in raw), None) for names in (_ID, _TEXT))
        if identifier is None or text is None:
            faults.report(MISSING_FIELD, where, f"a document needs one of {', '.join(_ID)} and one of {', '.join(_TEXT)}")
        elif not (isinstance(identifier, str) and isinstance(text, str) and isinstance(title := raw.get("title") or "", str)):
            faults.report(BAD_VALUE, where, "id, title and text of a document are strings")
        else:
            for name in raw.keys() - {*_ID, *_TEXT, "title"}:
                faults.report(FIELD_NOT_READ, where, f"the field {name!r} is not read")
            yield where, identifier, title, text


def _table_documents(path: Path, faults: Faults) -> Iterator[tuple[str, str, str, str]]:
    for where, line in read_lines(path, faults):
        columns = line.split("\t")
        if len(columns) not in (2, 3):
            faults.report(BROKEN, where, f"a document has an id, perhaps a title, and a text; this line has {len(columns)} columns")
        else:
            yield where, columns[0].strip(), columns[1] if len(columns) == 3 else "", columns[-1]


def _topics(path: Path, faults: Faults) -> Iterator[tuple[str, str, str]]:
    """Yield (place, id, text) from lines of id, tab, text, or from blocks with ``<num>`` and ``<title>``."""
    block: list[str] | None = None
    place = ""
    for where, line in read_lines(path, faults):
        tag = line.strip().lower()
        if tag.startswith(("<top>", "<topic ")):
            block, place = [], where
        if block is not None:
            block.append(line)
            if tag.endswith(("</top>", "</topic>")):
                yield from _block("\n".join(block), place, faults)
                block = None
        elif tag.startswith("<"):
            continue
        elif "\t" in line:
            identifier, text = line.split("\t", 1)
            yield where, identifier.strip(), text.strip()
        else:
            faults.report(BROKEN, where, "a topic is an id, a tab and a text, or a <top> block")
    if block is not None:
        faults.report(BROKEN, place, "the <top> block does not end")


def _block(block: str, place: str, faults: Faults) -> Iterator[tuple[str, str, str]]:
    number = re.search(r"<num>\s*(?:number:)?\s*([^\s<]+)|<topic\b[^>]*\bnumber=\"([^\"]+)\"", block, re.IGNORECASE)
    title = re.search(r"<(title|query)>\s*(?:topic:)?\s*([^<]+)", block, re.IGNORECASE)
    if number and title:
        yield place, number[1] or number[2], unescape(" ".join(title[2].split()))
    else:
        faults.report(BROKEN, place, "a topic block needs a <num> and a <title>")
