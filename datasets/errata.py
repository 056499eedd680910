"""Corrections laid over a data set's labels, so that scores can be shown with and without what is disputed.

An errata file is JSON or YAML: query id → ``{relevant: {id: grade}}`` for a correction, ``{disputed: true}`` for a label
in doubt, and a ``note`` that says why.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from .errors import InputError
from .faults import Refused
from .fields import grade
from .model import Dataset, Query, by_relevance
from .reading import read_document
from .yaml_file import read_yaml

CORRECTED, DISPUTED = "corrected", "disputed"
"""The tags that queries with a corrected, and with a disputed label, are given."""


def corrected(dataset: Dataset, errata: str | None) -> Dataset:
    """Return the data set with the corrections of a file; the same data set when there is no file.

    Raises:
        InputError: the file cannot be read, or names a query or an observation that is not in the data set.
    """
    if errata is None:
        return dataset
    path = Path(errata)
    entries = _entries(path)
    queries = {query.id: query for query in dataset.queries}
    observations = {observation.id for observation in dataset.observations}
    for identifier, entry in entries.items():
        where = f"{path}: query {identifier}"
        if identifier not in queries:
            raise InputError("the data set has no such query", where=where, remedy="delete the entry or correct its id")
        query = _overlaid(queries[identifier], entry, where)
        if unknown := sorted(query.relevant.keys() - observations) if "relevant" in entry else []:
            raise InputError(f"the data set has no observation {unknown[0]!r}", where=where, remedy="correct the id")
        queries[identifier] = query
    return replace(dataset, queries=tuple(queries.values()))


def _overlaid(query: Query, entry: Any, where: str) -> Query:
    if not isinstance(entry, dict) or not entry.keys() <= {"relevant", "disputed", "note"} or not entry.keys() - {"note"}:
        raise InputError("an entry has relevant: {id: grade} or disputed: true, and may have a note", where=where, remedy="correct it")
    relevant, disputed = entry.get("relevant", query.judgments), entry.get("disputed", False)
    if not isinstance(disputed, bool) or not isinstance(relevant, dict) or not all(isinstance(key, str) for key in relevant):
        raise InputError("relevant is {id: grade} and disputed is true or false", where=where, remedy="correct it")
    grades = {identifier: grade(value, where, Refused()) or 0 for identifier, value in relevant.items()}
    tags = dict.fromkeys((*query.tags, *[CORRECTED] * ("relevant" in entry), *[DISPUTED] * disputed))
    answers, others = by_relevance(grades)
    return replace(query, relevant=answers, irrelevant=others, tags=tuple(tags))


def _entries(path: Path) -> dict[str, Any]:
    yaml = path.suffix in (".yaml", ".yml")
    entries = read_yaml(path, "the file of errata", remedy="check the path") if yaml else read_document(path, Refused())
    if not isinstance(entries, dict) or not all(isinstance(key, str) for key in entries):
        raise InputError("an errata file maps query ids (strings) to corrections", where=str(path), remedy="put ids in quotes")
    return entries
