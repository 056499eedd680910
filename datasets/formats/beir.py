"""The BEIR layout: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``, each plain or gzip."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..errors import InputError
from ..faults import BAD_VALUE, GROUP_POOLED, NOT_IN_SPLIT, Faults, Judgment, Placed
from ..model import EPOCH, Dataset, Observation, Query
from ..reading import read_objects, source_name
from .qrels import read_qrels

_DOCUMENT = fields.Shape({"_id": fields.text, "title": fields.text_or_null, "text": fields.text_or_null}, frozenset({"_id", "text"}))
_QUERY = fields.Shape({"_id": fields.text, "text": fields.text}, frozenset({"_id", "text"}))


def load_beir(path: str, split: str = "test", errata: str | None = None, scope: str | None = None) -> Dataset:
    """Load a folder in BEIR layout: each document is an observation with its title and, as narrative, its text.

    A query belongs to the split when the split judges it; one with no grade above 0 is unanswerable.

    Args:
        path: the folder.
        split: whose judgments are read, from ``qrels/<split>.tsv``.
        errata: a file of corrections to lay over the labels.
        scope: the field of documents and queries, or of their ``metadata``, that says which memory they are of; None: all are of one.

    Raises:
        InputError: anything that `read_beir` reports as an error.
    """
    folder = Path(path)
    return corrected(load(lambda faults: read_beir(folder, faults, split, scope), name=source_name(folder)), errata)


def read_beir(folder: Path, faults: Faults, split: str = "test", scope: str | None = None) -> Iterator[Placed]:
    """Yield every record of a folder in BEIR layout, the judgments first.

    Raises:
        InputError: a file is missing.
    """
    judged, groups = dict[str, list[str]](), _Groups()
    for placed in read_qrels(_found(folder, f"qrels/{split}.tsv"), faults):
        assert isinstance(placed.record, Judgment)
        judged.setdefault(placed.record.query, []).append(placed.record.observation)
        yield placed
    for where, raw in read_objects(_found(folder, "corpus.jsonl"), faults):
        known, of = _scoped(raw, scope, where, faults)
        if document := _DOCUMENT.parse(known, where, faults):
            groups.document(document["_id"], known)
            values = {
                "id": document["_id"],
                "session_id": "",
                "timestamp": EPOCH,
                "type": "document",
                "title": document.get("title", ""),
                "narrative": document["text"],
                "scope": of,
            }
            if observation := fields.construct(Observation, values, where, faults):
                yield Placed(where, observation)
    for where, raw in read_objects(_found(folder, "queries.jsonl"), faults):
        known, of = _scoped(raw, scope, where, faults)
        if not (values := _QUERY.parse(known, where, faults)):
            continue
        if values["_id"] not in judged:
            faults.report(NOT_IN_SPLIT, where, f"{split} does not judge the query {values['_id']!r}; it is left out")
        elif query := fields.construct(Query, {"id": values["_id"], "text": values["text"], "scope": of}, where, faults):
            groups.query(judged[query.id], known)
            yield Placed(where, query)
    for name, values in groups.pooled():
        what = f"documents and queries have {name!r}, of {values} values, and all are searched as one memory"
        faults.report(GROUP_POOLED, str(folder), what, variant=name)


def _scoped(raw: Mapping[str, Any], scope: str | None, where: str, faults: Faults) -> tuple[Mapping[str, Any], str]:
    """Return a record without the field that says its scope, and the scope."""
    if scope is None:
        return raw, ""
    metadata = found if isinstance(found := raw.get("metadata"), dict) else {}
    inside = scope not in raw and scope in metadata
    value = metadata[scope] if inside else raw.get(scope)
    if not isinstance(value, str | int) or isinstance(value, bool):
        faults.report(BAD_VALUE, where, f"the field {scope!r}, which is its scope, is {value!r}, no text or number", variant=scope)
        return raw, ""
    rest = {name: inner for name, inner in raw.items() if name != scope}
    return rest | ({"metadata": {n: v for n, v in metadata.items() if n != scope}} if inside else {}), str(value)


class _Groups:
    """Fields, not read, that sort documents and queries alike: whoever answers a query is of its group."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, str]] = {}
        self._asked: dict[str, int] = {}

    def document(self, identifier: str, raw: Mapping[str, Any]) -> None:
        for name, value in _labels(raw):
            self._of.setdefault(name, {})[identifier] = value

    def query(self, judged: Iterable[str], raw: Mapping[str, Any]) -> None:
        for name, value in _labels(raw):
            of = self._of.get(name, {})
            if all(of.get(identifier) == value for identifier in judged):
                self._asked[name] = self._asked.get(name, 0) + 1
            else:
                self._of.pop(name, None)

    def pooled(self) -> Iterator[tuple[str, int]]:
        for name in sorted(self._of.keys() & self._asked.keys()):
            values = len(set(self._of[name].values()))
            if values > 1:
                yield name, values


def _labels(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the unread fields of a record, and of its metadata, that could sort it."""
    metadata = raw.get("metadata")
    for name, value in [*raw.items(), *(metadata.items() if isinstance(metadata, dict) else ())]:
        if name not in _DOCUMENT.fields and isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            yield name, sys.intern(str(value))


def _found(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    there = ", ".join(sorted(entry.name for entry in (folder / name).parent.glob("*"))) or "nothing"
    raise InputError(f"no {name} and no {name}.gz", where=str(folder), remedy=f"check the path and the split; there is {there}")


def write_beir(folder: Path, observations: Iterable[Observation], queries: Iterable[Query], split: str = "test") -> None:
    """Write a data set into an existing folder in BEIR layout, one record in memory at a time.

    The text of a document is all that retrieval may read but its title; the other fields go into its metadata. An
    unanswerable query is given one judgment of grade 0, so that the split knows it.

    Raises:
        InputError: the observations are of more than one scope, which the layout cannot say.
    """
    (folder / "qrels").mkdir()
    some_id, scopes = "", set()
    with (folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as corpus:
        for o in observations:
            some_id = some_id or o.id
            scopes.add(o.scope)
            if len(scopes) > 1:
                raise InputError("the BEIR layout has no scopes", where=f"observation {o.id}", remedy="use our own JSONL")
            text = "\n".join(part for part in (o.subtitle, o.narrative, *o.facts, *o.concepts, *o.files) if part)
            metadata = {"session_id": o.session_id, "timestamp": o.timestamp.isoformat(), "type": o.type, "importance": o.importance}
            _write_line(corpus, {"_id": o.id, "title": o.title, "text": text, "metadata": metadata})
    with (
        (folder / "queries.jsonl").open("w", encoding="utf-8", newline="\n") as texts,
        (folder / "qrels" / f"{split}.tsv").open("w", encoding="utf-8", newline="\n") as qrels,
    ):
        qrels.write("query-id\tcorpus-id\tscore\n")
        for q in queries:
            metadata = {"category": q.category, "asked_at": q.asked_at and q.asked_at.isoformat(), "tags": list(q.tags)}
            _write_line(texts, {"_id": q.id, "text": q.text, "metadata": metadata})
            grades = q.judgments or ({some_id: 0} if some_id else {})
            qrels.writelines(f"{q.id}\t{identifier}\t{grade}\n" for identifier, grade in sorted(grades.items()))


def _write_line(file: IO[str], record: dict[str, object]) -> None:
    file.write(json.dumps(record, ensure_ascii=False) + "\n")
