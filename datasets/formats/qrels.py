"""Relevance judgments in a file of their own: TREC and BEIR tables, and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..faults import BROKEN, Faults, Placed
from ..fields import judge
from ..reading import Repeated, is_json, read_document, read_rows

HEADER = frozenset({"score", "grade", "relevance", "rel", "label", "relevancy"})
"""What the last column of a table is called, in a line that is no judgment."""


def read_qrels(path: Path, faults: Faults) -> Iterator[Placed]:
    """Yield the judgments of a file.

    It is a table of query, document, grade (BEIR) or query, iteration, document, grade (TREC), with or without a header,
    separated by tabs or white space, or, named ``.json``, an object query → document → grade.
    """
    rows = _from_json(path, faults) if is_json(path) else _from_table(path, faults)
    for where, query, observation, value in rows:
        yield from judge(query, observation, value, where, faults)


def _from_table(path: Path, faults: Faults) -> Iterator[tuple[str, str, str, str]]:
    first, width = True, 0
    for where, columns in read_rows(path, faults):
        if len(columns) not in (3, 4):
            faults.report(BROKEN, where, f"a judgment has 3 or 4 columns, this line has {len(columns)}")
        elif not (first and columns[-1].lower() in HEADER):
            width = width or len(columns)
            if len(columns) == width:
                yield where, columns[0], columns[-2], columns[-1]
            else:  # a lost column would make one id of another
                faults.report(BROKEN, where, f"this line has {len(columns)} columns, the ones before have {width}")
        first = False


def _from_json(path: Path, faults: Faults) -> Iterator[tuple[str, str, str, Any]]:
    queries = read_document(path, faults)
    if not isinstance(queries, dict | None):
        faults.report(BROKEN, str(path), "judgments in JSON are an object of queries")
        return
    for query, judged in _items(queries or {}):
        where = f"{path}: query {query}"
        if not isinstance(judged, dict):
            faults.report(BROKEN, where, "its judgments are not an object of ids and grades")
            continue
        for observation, value in _items(judged):
            yield where, query, observation, value


def _items(value: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    return value.pairs if isinstance(value, Repeated) else value.items()
