"""A retrieval data set of the Hugging Face hub, by its name. Needs the extra ``hugging-face``.

It has BEIR's three tables: as configurations ``corpus`` and ``queries`` of the repository and, for the judgments, its
configuration ``default`` (as MTEB publishes) or the repository of the same name with ``-qrels`` (as BEIR publishes).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..errors import InputError
from ..faults import MISSING_FIELD, NOT_IN_SPLIT, Faults, Placed
from ..hub import hub_access
from ..model import EPOCH, Dataset, Observation, Query

_COLUMNS = {
    "id": ("_id", "id"),
    "text": ("text",),
    "query": ("query-id", "query_id"),
    "document": ("corpus-id", "corpus_id"),
    "grade": ("score", "relevance"),
}


def load_hugging_face(
    name: str, split: str = "test", revision: str | None = None, download: bool = False, errata: str | None = None
) -> Dataset:
    """Load a data set such as ``mteb/scifact`` or ``BeIR/scifact``, or a folder of the same layout.

    Args:
        name: the repository, or a local folder.
        split: whose judgments are read.
        revision: a commit or tag of the repository, so that the data cannot change under its name.
        download: whether what is not in the local cache yet may be fetched.
        errata: a file of corrections to lay over the labels.

    Raises:
        InputError: the package, the repository or one of its tables is missing, or not on this machine.
    """
    return corrected(load(lambda faults: read_hugging_face(name, faults, split, revision, download), name=name), errata)


def read_hugging_face(
    name: str, faults: Faults, split: str = "test", revision: str | None = None, download: bool = False
) -> Iterator[Placed]:
    """Yield every record of a data set: judgments, documents, queries."""
    hub = _Hub(name, revision, download)
    judged: set[str] = set()
    for number, row in enumerate(hub.judgments(split)):
        where = f"{name}: judgment {number}"
        values = _row(row, ("query", "document", "grade"), where, faults)
        if values:
            judged.add(str(values["query"]))
            yield from fields.judge(str(values["query"]), str(values["document"]), values["grade"], where, faults)
    for number, row in enumerate(hub.table("corpus")):
        where = f"{name}: document {number}"
        if values := _row(row, ("id", "text"), where, faults):
            document = {"id": str(values["id"]), "session_id": "", "timestamp": EPOCH, "type": "document"}
            document |= {"title": row.get("title") or "", "narrative": values["text"] or ""}
            if observation := fields.construct(Observation, document, where, faults):
                yield Placed(where, observation)
    for number, row in enumerate(hub.table("queries")):
        where = f"{name}: query {number}"
        if not (values := _row(row, ("id", "text"), where, faults)):
            continue
        if str(values["id"]) not in judged:
            faults.report(NOT_IN_SPLIT, where, f"{split} does not judge the query {values['id']!r}; it is left out")
        elif query := fields.construct(Query, {"id": str(values["id"]), "text": values["text"] or ""}, where, faults):
            yield Placed(where, query)


def _row(row: dict[str, Any], wanted: tuple[str, ...], where: str, faults: Faults) -> dict[str, Any] | None:
    """Return the wanted columns under our names; None when one is missing."""
    values = {name: row[column] for name in wanted for column in _COLUMNS[name] if column in row}
    if missing := [name for name in wanted if name not in values]:
        faults.report(MISSING_FIELD, where, f"there is no column {' or '.join(_COLUMNS[missing[0]])}")
        return None
    return values


class _Hub:
    """The tables of one repository, as rows."""

    def __init__(self, name: str, revision: str | None, download: bool) -> None:
        self._name, self._revision = name, revision
        hub_access(allowed=download)
        try:
            self._package = import_module("datasets")
            self._package.load_dataset  # noqa: B018 - in a checkout the name may be that of our own folder
        except (ImportError, AttributeError) as error:
            where, remedy = name, "pip install 'recallmeter[hugging-face]'"
            raise InputError("the package datasets is not installed", where=where, remedy=remedy) from error

    def table(self, config: str) -> Iterable[dict[str, Any]]:
        """Return the rows of a configuration; its splits one after the other."""
        return (row for rows in self._load(self._name, config).values() for row in rows)

    def judgments(self, split: str) -> Iterable[dict[str, Any]]:
        """Return the judgments of a split."""
        try:
            splits = self._load(self._name, "default")
        except InputError as first:
            try:
                splits = self._load(f"{self._name}-qrels", None)
            except InputError:
                raise first from None
        if split not in splits:
            raise InputError(f"no split {split!r}", where=self._name, remedy=f"there are: {', '.join(sorted(map(str, splits)))}")
        return splits[split]

    def _load(self, name: str, config: str | None) -> dict[str, Any]:
        try:
            return self._package.load_dataset(name, config, revision=self._revision)
        except Exception as error:  # the package raises of a dozen kinds
            told = " ".join(str(error).split())[:200]
            remedy = "check the name, and set download=true if it is not on this machine yet"
            raise InputError(f"can't load {config or 'it'} ({told})", where=name, remedy=remedy) from error
