"""Qrels and runs in files: TREC, BEIR and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...datasets.errors import InputError
from ...datasets.faults import Judgment, Refused
from ...datasets.file import write_file
from ...datasets.formats.qrels import read_qrels as read_judgments
from ...datasets.model import check_id
from ...datasets.reading import Repeated, is_json, read_document, read_rows
from ...retrieval.ranking import Hit
from ..measures.canonical import canonical
from .qrels import quick_qrels

_RUN_COLUMNS = "query Q0 document rank score tag"


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Read judgments: query → document → grade, in the order of the file.

    The file is TREC (four columns), BEIR (three columns, with or without a header) or, named ``.json``, an object
    {query: {document: grade}}. A byte order mark, CRLF, tabs, blank lines, gzip and Zstandard are accepted.

    Raises:
        InputError: with its line: another number of columns, an id with white space in it, a grade that is not a whole
            number, or two judgments that contradict each other; or the file holds no judgment.
    """
    if quick := quick_qrels(Path(path)):
        return quick
    qrels: dict[str, dict[str, int]] = {}
    for where, record in read_judgments(Path(path), Refused()):
        assert isinstance(record, Judgment)
        judged = qrels.setdefault(record.query, {})
        before = judged.setdefault(record.observation, record.grade)
        if before != record.grade:
            raise InputError(
                f"{record.observation!r} has grade {record.grade} for query {record.query!r}, and {before} further up",
                where=where,
                remedy="decide which grade holds and delete the other",
            )
    if not qrels:
        raise InputError("there is no judgment in it", where=str(path))
    return qrels


def read_run(path: str | Path) -> dict[str, tuple[Hit, ...]]:
    """Read a run: query → hits in the order of the file; the column of ranks is not used, since the scores decide.

    The file is TREC (six columns) or, named ``.json``, an object {query: {document: score}}; it may be as `read_qrels` says.

    Raises:
        InputError: with its line: another number of columns, an id with white space in it, or a score that is not a
            finite number; or the file holds no hit.
    """
    hits: dict[str, list[Hit]] = {}
    for where, query, document, score in (_json_run if is_json(Path(path)) else _trec_run)(Path(path)):
        _check(query, document, where)
        hits.setdefault(query, []).append(Hit(document, _finite(score, query, document, where)))
    if not hits:
        raise InputError("there is no hit in it", where=str(path))
    return {query: tuple(found) for query, found in hits.items()}


def write_run_file(path: str | Path, run: Mapping[str, Sequence[Hit]], *, tag: str) -> None:
    """Write a run in canonical order, ranks from 1: JSON for ``.json``, else TREC; scores read back to the last bit.

    A query that found nothing has no line in TREC and an empty object in JSON; either way it is read back as missing.

    Raises:
        InputError: an id or a tag with white space in it, a score that is not a finite number, or the file can't be written.
    """
    path = Path(path)
    check_id(tag, "tag")
    rankings = {query: [(hit.id, float(hit.score)) for hit in canonical(hits, query)] for query, hits in run.items()}
    for query, hits in rankings.items():
        for document, _ in hits:
            _check(query, document, str(path))
    if path.suffix == ".json":
        _write(path, [json.dumps({query: dict(hits) for query, hits in rankings.items()}, indent=1)])
    else:
        _write(
            path,
            (f"{q} Q0 {document} {rank} {score!r} {tag}" for q, hits in rankings.items() for rank, (document, score) in enumerate(hits, 1)),
        )


def _trec_run(path: Path) -> Iterator[tuple[str, str, str, Any]]:
    for where, columns in read_rows(path, Refused()):
        if len(columns) != 6:
            raise InputError(
                f"a run has 6 columns ({_RUN_COLUMNS}), this line has {len(columns)}",
                where=where,
                remedy="an id must have no white space in it",
            )
        yield where, columns[0], columns[2], columns[4]


def _json_run(path: Path) -> Iterator[tuple[str, str, str, Any]]:
    queries = read_document(path, Refused())
    if not isinstance(queries, dict):
        raise InputError("a run in JSON is an object {query: {document: score}}", where=str(path))
    for query, scores in queries.items():
        where = f"{path}: query {query}"
        if not isinstance(scores, dict):
            raise InputError("its hits are not an object {document: score}", where=where)
        for document, score in scores.pairs if isinstance(scores, Repeated) else scores.items():
            yield where, query, document, score


def _finite(value: Any, query: str, document: str, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise InputError(f"score {value!r} of {document!r} for query {query!r} is not a finite number", where=where)
    return number


def _check(query: str, document: str, where: str) -> None:
    try:
        check_id(query, "query id")
        check_id(document, "document id")
    except InputError as error:
        raise error.at(where) from None


def _write(path: Path, lines: Iterable[str]) -> None:
    write_file(path, "".join(f"{line}\n" for line in lines))
