"""Our own format: a folder with ``observations.jsonl``, ``queries.jsonl`` and ``dataset.json``.

A line of the first two is the JSON form of an `Observation` or a `Query`; fields with a default may be left out, others
are refused. ``dataset.json`` names the data set, its licence and the fingerprint of what the other two files hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..errors import InputError
from ..faults import BAD_VALUE, UNKNOWN_FIELD, Faults, Placed, Refused
from ..model import Dataset, Observation, Query, fingerprint_of
from ..reading import Repeated, read_document, read_objects, source_name

OBSERVATIONS, QUERIES, DESCRIPTION = "observations.jsonl", "queries.jsonl", "dataset.json"

_OBSERVATION_FIELDS = {
    "id": fields.text,
    "session_id": fields.label,
    "timestamp": fields.time,
    "type": fields.label,
    "title": fields.text,
    "subtitle": fields.text,
    "narrative": fields.text,
    "facts": fields.texts,
    "concepts": fields.labels,
    "files": fields.labels,
    "importance": fields.whole,
    "scope": fields.label,
    "superseded_by": fields.id_or_null,
}
_QUERY_FIELDS = {
    "id": fields.text,
    "text": fields.text,
    "category": fields.label,
    "relevant": fields.anything,
    "scope": fields.label,
    "asked_at": fields.time_or_null,
    "tags": fields.labels,
    "group": fields.label,
}
_OBSERVATION = fields.Shape(_OBSERVATION_FIELDS, frozenset({"id", "session_id", "timestamp", "type", "title"}), unknown=UNKNOWN_FIELD)
_QUERY = fields.Shape(_QUERY_FIELDS, frozenset({"id", "text"}), unknown=UNKNOWN_FIELD)


def load_jsonl(path: str, errata: str | None = None) -> Dataset:
    """Load a folder in our own format.

    Args:
        path: the folder.
        errata: a file of corrections to lay over the labels.

    Raises:
        InputError: anything that `read_jsonl` reports as an error, or content that differs from the fingerprint.
    """
    folder = Path(path)
    description = describe(folder)
    dataset = load(lambda faults: read_jsonl(folder, faults), name=description["name"], licence=description["licence"])
    if description["fingerprint"] not in ("", dataset.fingerprint):
        raise InputError(
            f"the content has the fingerprint {dataset.fingerprint[:12]}…, {DESCRIPTION} says {description['fingerprint'][:12]}…",
            where=str(folder / DESCRIPTION),
            remedy="restore the files, or delete the fingerprint from it if the change is meant",
        )
    return corrected(dataset, errata)


def read_jsonl(folder: Path, faults: Faults) -> Iterator[Placed]:
    """Yield every record of a folder in our own format, in the order of the files."""
    for where, raw in read_objects(folder / OBSERVATIONS, faults):
        values = _OBSERVATION.parse(raw, where, faults)
        if values and (observation := fields.construct(Observation, values, where, faults)):
            yield Placed(where, observation)
    for where, raw in read_objects(folder / QUERIES, faults):
        values = _QUERY.parse(raw, where, faults)
        if not values:
            continue
        relevant = values.pop("relevant", {})
        if query := fields.construct(Query, values, where, faults):
            yield Placed(where, query)
            yield from _judgments(query.id, relevant, where, faults)


def _judgments(query: str, relevant: Any, where: str, faults: Faults) -> Iterator[Placed]:
    if not isinstance(relevant, dict):
        faults.report(BAD_VALUE, where, "the field 'relevant' is not an object of ids and grades, such as {\"obs-1\": 2}")
        return
    for identifier, value in relevant.pairs if isinstance(relevant, Repeated) else relevant.items():
        yield from fields.judge(query, identifier, value, where, faults)


def describe(folder: Path) -> dict[str, str]:
    """Return name, licence and fingerprint from ``dataset.json``; the folder's name and nothing where it is missing.

    Raises:
        InputError: the folder does not exist, or the file is not a JSON object of strings.
    """
    if not folder.is_dir():
        raise InputError("no such folder", where=str(folder), remedy="check the path")
    path = folder / DESCRIPTION
    described = read_document(path, Refused()) if path.exists() else {}
    values = {"name": source_name(folder), "licence": "", "fingerprint": ""}
    if not isinstance(described, dict) or not all(isinstance(described.get(key, ""), str) for key in values):
        raise InputError("an object is needed whose name, licence and fingerprint are strings", where=str(path), remedy="correct it")
    return {key: described.get(key, value) for key, value in values.items()}


def write_jsonl(folder: Path, name: str, observations: Iterable[Observation], queries: Iterable[Query], licence: str = "") -> None:
    """Write a data set into an existing folder, one record in memory at a time; the ids alone are kept for the fingerprint."""
    with (folder / OBSERVATIONS).open("w+b") as first, (folder / QUERIES).open("w+b") as second:
        counts = [_write(first, observations), _write(second, queries)]
        digest = fingerprint_of(_in_id_order(first, counts[0]), _in_id_order(second, counts[1]))
    description = {"name": name, "licence": licence, "fingerprint": digest, "observations": len(counts[0]), "queries": len(counts[1])}
    (folder / DESCRIPTION).write_text(json.dumps(description, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="\n")


def _write(file: IO[bytes], records: Iterable[Observation] | Iterable[Query]) -> list[tuple[str, int]]:
    """Write the records; return the id of each with the position of its line."""
    at, lines = 0, []
    for record in records:
        line = json.dumps(record.as_record(), ensure_ascii=False).encode() + b"\n"
        file.write(line)
        lines.append((record.id, at))
        at += len(line)
    return lines


def _in_id_order(file: IO[bytes], lines: list[tuple[str, int]]) -> Iterator[dict[str, Any]]:
    for _, at in sorted(lines):
        file.seek(at)
        yield json.loads(file.readline())
