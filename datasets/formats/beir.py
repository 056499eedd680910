"""The BEIR layout: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``, each plain or gzip."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..errors import InputError
from ..faults import NOT_IN_SPLIT, Faults, Judgment, Placed
from ..model import EPOCH, Dataset, Observation, Query
from ..reading import read_objects, source_name
from .qrels import read_qrels

_DOCUMENT = fields.Shape({"_id": fields.text, "title": fields.text_or_null, "text": fields.text_or_null}, frozenset({"_id", "text"}))
_QUERY = fields.Shape({"_id": fields.text, "text": fields.text}, frozenset({"_id", "text"}))


def load_beir(path: str, split: str = "test", errata: str | None = None) -> Dataset:
    """Load a folder in BEIR layout: each document is an observation with its title and, as narrative, its text.

    A query belongs to the split when the split judges it; one with no grade above 0 is unanswerable.

    Args:
        path: the folder.
        split: whose judgments are read, from ``qrels/<split>.tsv``.
        errata: a file of corrections to lay over the labels.

    Raises:
        InputError: anything that `read_beir` reports as an error.
    """
    folder = Path(path)
    return corrected(load(lambda faults: read_beir(folder, faults, split), name=source_name(folder)), errata)


def read_beir(folder: Path, faults: Faults, split: str = "test") -> Iterator[Placed]:
    """Yield every record of a folder in BEIR layout, the judgments first.

    Raises:
        InputError: a file is missing.
    """
    judged: set[str] = set()
    for placed in read_qrels(_found(folder, f"qrels/{split}.tsv"), faults):
        assert isinstance(placed.record, Judgment)
        judged.add(placed.record.query)
        yield placed
    for where, raw in read_objects(_found(folder, "corpus.jsonl"), faults):
        if document := _DOCUMENT.parse(raw, where, faults):
            values = {
                "id": document["_id"],
                "session_id": "",
                "timestamp": EPOCH,
                "type": "document",
                "title": document.get("title", ""),
                "narrative": document["text"],
            }
            if observation := fields.construct(Observation, values, where, faults):
                yield Placed(where, observation)
    for where, raw in read_objects(_found(folder, "queries.jsonl"), faults):
        if not (values := _QUERY.parse(raw, where, faults)):
            continue
        if values["_id"] not in judged:
            faults.report(NOT_IN_SPLIT, where, f"{split} does not judge the query {values['_id']!r}; it is left out")
        elif query := fields.construct(Query, {"id": values["_id"], "text": values["text"]}, where, faults):
            yield Placed(where, query)


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
            grades = q.relevant or ({some_id: 0} if some_id else {})
            qrels.writelines(f"{q.id}\t{identifier}\t{grade}\n" for identifier, grade in sorted(grades.items()))


def _write_line(file: IO[str], record: dict[str, object]) -> None:
    file.write(json.dumps(record, ensure_ascii=False) + "\n")
