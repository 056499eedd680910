"""agentmemory: its benchmark folder (``observations.jsonl`` and ``queries.jsonl``) and the JSON dump of a running store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..faults import BAD_VALUE, FIELD_NOT_READ, Faults, Placed
from ..model import Dataset, Observation, Query
from ..reading import read_document, read_objects, source_name

Place = tuple[str, dict[str, Any]]


def load_agentmemory(path: str, queries: str | None = None, errata: str | None = None) -> Dataset:
    """Load agentmemory's records; its queries have no ids, so they are called q01, q02, … in the order of the file.

    Args:
        path: the benchmark folder, or the JSON file that the store's export wrote; of the latter, observations and
            memories are read.
        queries: the file of queries; ``queries.jsonl`` of the folder when not given, none for a dump.
        errata: a file of corrections to lay over the labels.

    Raises:
        InputError: anything that `read_agentmemory` reports as an error.
    """
    source = Path(path)
    return corrected(load(lambda faults: read_agentmemory(source, faults, queries), name=source_name(source)), errata)


def read_agentmemory(path: Path, faults: Faults, queries: str | None = None) -> Iterator[Placed]:
    """Yield every record of a folder or a dump, observations first."""
    if path.is_file():
        yield from _dumped(path, faults)
    else:
        yield from _observations(read_objects(path / "observations.jsonl", faults), faults)
        queries = queries or str(path / "queries.jsonl")
    for number, (where, raw) in enumerate(read_objects(Path(queries), faults) if queries else (), start=1):
        values = _QUERY.parse(raw, where, faults)
        if values is None:
            continue
        query = {"id": f"q{number:02d}", "text": values["query"], "category": values.get("category", "")}
        if record := fields.construct(Query, query, where, faults):
            yield Placed(where, record)
            for identifier in values["relevantObsIds"]:
                yield from fields.judge(record.id, identifier, 1, where, faults)


def _observations(places: Iterable[Place], faults: Faults) -> Iterator[Placed]:
    for where, raw in places:
        values = _OBSERVATION.parse(raw, where, faults)
        if values is None:
            continue
        values = {"session_id": values.pop("sessionId"), "type": "other", "title": "", **values}
        if observation := fields.construct(Observation, values, where, faults):
            yield Placed(where, observation)


def _dumped(path: Path, faults: Faults) -> Iterator[Placed]:
    dump = read_document(path, faults)
    if dump is None:
        return
    if not isinstance(dump, dict) or not isinstance(sessions := dump.get("observations"), dict):
        faults.report(BAD_VALUE, str(path), "a dump is an object whose field 'observations' maps sessions to lists")
        return
    for name in sorted(dump.keys() - {"observations", "memories", "version", "exportedAt"}):
        faults.report(FIELD_NOT_READ, str(path), f"the field {name!r} is not read: observations and memories are")
    for session, records in sessions.items():
        yield from _observations(_objects(records, f"{path}: session {session}", faults), faults)
    raw_memories = _objects(dump.get("memories", []), f"{path}: memories", faults)
    memories = [(where, values) for where, raw in raw_memories if (values := _MEMORY.parse(raw, where, faults))]
    successors = {old: values["id"] for _, values in memories for old in values.get("supersedes", ())}
    for where, values in memories:
        observed = {
            "id": values["id"],
            "session_id": next(iter(values.get("sessionIds", ())), ""),
            "timestamp": values["createdAt"],
            "type": values.get("type", "memory"),
            "title": values["title"],
            "narrative": values["content"],
            "concepts": values.get("concepts", ()),
            "files": values.get("files", ()),
            "superseded_by": successors.get(values["id"]),
        }
        if observation := fields.construct(Observation, observed, where, faults):
            yield Placed(where, observation)


def _objects(records: Any, where: str, faults: Faults) -> Iterator[Place]:
    if not isinstance(records, list):
        faults.report(BAD_VALUE, where, "a list of records is needed")
        return
    for number, record in enumerate(records, start=1):
        if isinstance(record, dict):
            yield f"{where}, record {number}", record
        else:
            faults.report(BAD_VALUE, f"{where}, record {number}", "a record is an object")


_OBSERVATION = fields.Shape(
    {
        "id": fields.text,
        "sessionId": fields.label,
        "timestamp": fields.time,
        "type": fields.label,
        "title": fields.text_or_null,
        "subtitle": fields.text_or_null,
        "facts": fields.texts,
        "narrative": fields.text_or_null,
        "concepts": fields.labels,
        "files": fields.labels,
        "importance": fields.whole,
    },
    frozenset({"id", "sessionId", "timestamp"}),
)
_MEMORY = fields.Shape(
    {
        "id": fields.text,
        "createdAt": fields.time,
        "type": fields.label,
        "title": fields.text,
        "content": fields.text,
        "concepts": fields.labels,
        "files": fields.labels,
        "sessionIds": fields.labels,
        "supersedes": fields.texts,
    },
    frozenset({"id", "createdAt", "title", "content"}),
)
_QUERY = fields.Shape(
    {"query": fields.text, "category": fields.label, "relevantObsIds": fields.texts, "description": fields.anything},
    frozenset({"query", "relevantObsIds"}),
)
