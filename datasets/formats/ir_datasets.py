"""Any collection of the ir_datasets catalogue, by its id. Needs the extra ``ir-datasets``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..errors import InputError
from ..faults import Faults, Placed
from ..model import EPOCH, Dataset, Observation, Query


def load_ir_datasets(id: str, download: bool = False, errata: str | None = None) -> Dataset:
    """Load a collection with documents, queries and judgments, such as ``beir/scifact/test``.

    Args:
        id: its name in the catalogue.
        download: whether files that are not on this machine yet may be fetched.
        errata: a file of corrections to lay over the labels.

    Raises:
        InputError: the package or the collection is missing, or a part of it is not on this machine.
    """
    return corrected(load(lambda faults: read_ir_datasets(id, faults, download), name=id), errata)


def read_ir_datasets(id: str, faults: Faults, download: bool = False) -> Iterator[Placed]:
    """Yield every record of a collection: documents, queries, judgments."""
    collection = _collection(id)
    with _network(id, download):
        for document in collection.docs_iter():
            text = getattr(document, "text", None) or getattr(document, "body", None) or document.default_text()
            values = {"id": document.doc_id, "session_id": "", "timestamp": EPOCH, "type": "document"}
            values |= {"title": getattr(document, "title", None) or "", "narrative": text}
            if observation := fields.construct(Observation, values, place := f"{id}: document {document.doc_id}", faults):
                yield Placed(place, observation)
        for topic in collection.queries_iter():
            values = {"id": topic.query_id, "text": topic.default_text()}
            if query := fields.construct(Query, values, place := f"{id}: query {topic.query_id}", faults):
                yield Placed(place, query)
        for judged in collection.qrels_iter():
            place = f"{id}: judgment of {judged.query_id} and {judged.doc_id}"
            yield from fields.judge(judged.query_id, judged.doc_id, judged.relevance, place, faults)


def _collection(id: str) -> Any:
    try:
        collection = import_module("ir_datasets").load(id)
    except ImportError as error:
        raise InputError(f"the package {error.name} is not installed", where=id, remedy="pip install 'recallmeter[ir-datasets]'") from error
    except KeyError as error:
        raise InputError("ir_datasets has no such collection", where=id, remedy="see `ir_datasets list`") from error
    for part in ("docs", "queries", "qrels"):
        if not getattr(collection, f"has_{part}")():
            raise InputError(f"the collection has no {part}", where=id, remedy="choose one that has them, such as a split of it")
    return collection


@contextmanager
def _network(id: str, download: bool) -> Iterator[None]:
    """Keep the package from fetching anything, unless it may: it asks `lazy_libs` for its HTTP client each time."""
    lazy_libs = import_module("ir_datasets").lazy_libs
    client = lazy_libs.requests
    refused = InputError("the collection is not on this machine", where=id, remedy="set download=true to fetch it")

    def refuse() -> NoReturn:
        raise refused

    if not download:
        lazy_libs.requests = refuse
    try:
        yield
    except Exception as error:  # the package tells a failed download in several ways
        if isinstance(error, InputError):
            raise
        if refused.__traceback__ is not None:
            raise refused from error
        told = f"{type(error).__name__}: {error}"
        raise InputError(
            f"ir_datasets could not read the collection ({told})", where=id, remedy="see `ir_datasets export --help`"
        ) from error
    finally:
        lazy_libs.requests = client
