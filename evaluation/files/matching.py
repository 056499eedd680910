"""A run in a file matched with judgments, block by block: what is kept of a line is where a judged document stands."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...datasets.faults import Refused
from ...datasets.reading import read_blocks
from ...retrieval.ranking import Hit
from ...retrieval.rounding import bar
from ..measures.canonical import canonical
from ..measures.gains import Gains, JudgedRun
from .columns import PADDING, Columns, columns_of, hashed, mixed

_FILTER_BITS = 22


@dataclass(frozen=True)
class Matched:
    """A run matched with judgments.

    Attributes:
        run: made of arrays alone.
        query_ids: the judged queries, sorted: its rows.
        present: which of them the run has.
        unjudged: the queries of the run that have no judgments.
        repeated: which rows had a document more than once.
        some: one query that the run has.
    """

    run: JudgedRun
    query_ids: tuple[str, ...]
    present: NDArray[np.bool_]
    unjudged: tuple[str, ...]
    repeated: NDArray[np.bool_]
    some: str


def match_file(path: Path, qrels: Mapping[str, Mapping[str, int]]) -> Matched | None:
    """Match a TREC run with judgments; None where the careful reader has to look at it.

    That is: a line is not as most are (see `columns_of`), or the lines of a query do not stand together.

    Raises:
        InputError: the file can't be read.
    """
    matcher = _Matcher(qrels)
    rest = b""
    for number, block in enumerate(read_blocks(path, Refused())):
        if number == 0 and block.startswith(codecs.BOM_UTF8):
            return None
        cut = block.rfind(b"\n") + 1
        columns = columns_of(b"".join((rest, block[:cut], bytes(PADDING)))) if cut else None
        if columns is None:
            return None
        kept = matcher.take(columns, last=False)
        if kept is None:
            return None
        rest = columns.block[kept:-PADDING] + block[cut:]
    if rest:
        columns = columns_of(b"".join((rest, b"" if rest.endswith(b"\n") else b"\n", bytes(PADDING))))
        if columns is None or matcher.take(columns, last=True) is None:
            return None
    return matcher.matched() if matcher.seen else None


class _Matcher:
    """Takes block after block, and keeps where the judged documents of each query stand."""

    def __init__(self, qrels: Mapping[str, Mapping[str, int]]) -> None:
        self.query_ids = tuple(sorted(qrels))
        self.rows = {query: row for row, query in enumerate(self.query_ids)}
        self.qrels = qrels
        self.judged = _Judged.of(qrels, self.query_ids)
        self.seen: dict[str, None] = {}
        self.returned = np.zeros(len(self.query_ids), np.int64)
        self.repeated = np.zeros(len(self.query_ids), bool)
        self.present = np.zeros(len(self.query_ids), bool)
        self.parts: list[NDArray[np.int64]] = []

    def take(self, columns: Columns, *, last: bool) -> int | None:
        """Take the lines of a block but those of its last query, which may go on in the next.

        Returns:
            Where what was not taken begins in the buffer; None where a query comes a second time.
        """
        starts = np.flatnonzero(columns.opens)
        ends = np.append(starts[1:], len(columns.query))
        if not last:
            starts, ends = starts[:-1], ends[:-1]
        queries = [columns.text(a, b) for a, b in zip(columns.query[starts].tolist(), columns.query_end[starts].tolist(), strict=True)]
        before = len(self.seen)
        self.seen.update(dict.fromkeys(queries))
        if len(self.seen) < before + len(queries):
            return None
        rows = np.array([self.rows.get(query, -1) for query in queries], np.int64)
        self._match(columns, starts, ends, rows)
        if last:
            return len(columns.buffer) - PADDING
        return int(columns.query[ends[-1]]) if len(ends) else 0

    def _match(self, columns: Columns, starts: NDArray[np.int64], ends: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        if not len(starts):
            return
        counts = ends - starts
        size = int(ends[-1])
        segment = np.repeat(np.arange(len(starts)), counts)
        documents = hashed(columns.buffer, columns.document[:size], columns.document_end[:size])
        keys = mixed(documents + rows[segment].astype(np.uint64))
        scored = rows[segment] >= 0
        twice = _twice(keys[scored], segment[scored])
        disordered = np.union1d(_disordered(columns.scores[:size], segment), twice)
        disordered = disordered[rows[disordered] >= 0]
        judged = rows >= 0
        self.present[rows[judged]] = True
        self.returned[rows[judged]] = counts[judged]
        lines, which = self.judged.find(keys, rows[segment], columns)
        ranks = lines - starts[segment[lines]] + 1
        orderly = ~np.isin(segment[lines], disordered)
        self.parts.append(np.stack([rows[segment[lines]][orderly], ranks[orderly], self.judged.grades[which][orderly]]))
        for place in disordered.tolist():
            self._by_hand(columns, int(starts[place]), int(ends[place]), int(rows[place]))

    def _by_hand(self, columns: Columns, start: int, end: int, row: int) -> None:
        """Bring one query's lines into canonical order, where scores tie or do not fall, or a document comes twice."""
        bounds = zip(columns.document[start:end].tolist(), columns.document_end[start:end].tolist(), strict=True)
        hits = [Hit(columns.text(a, b), score) for (a, b), score in zip(bounds, columns.scores[start:end].tolist(), strict=True)]
        ranking = canonical(hits)
        judged = self.qrels[self.query_ids[row]]
        found = [(row, rank, judged[hit.id]) for rank, hit in enumerate(ranking, 1) if hit.id in judged]
        self.parts.append(np.array(found, np.int64).reshape(-1, 3).T)
        self.returned[row] = len(ranking)
        self.repeated[row] = len(ranking) < len(hits)

    def matched(self) -> Matched:
        rows, ranks, grades = np.concatenate(self.parts, axis=1) if self.parts else np.empty((3, 0), np.int64)
        order = np.lexsort((ranks, rows))
        found = Gains(rows[order], ranks[order], grades[order])
        run = JudgedRun(len(self.query_ids), found, self.judged.ideal, self.judged.refuted, self.returned)
        unjudged = tuple(sorted(query for query in self.seen if query not in self.rows))
        return Matched(run, self.query_ids, self.present, unjudged, self.repeated, min(self.seen))


@dataclass(frozen=True)
class _Judged:
    """Judgments by a hash of row and document, sorted by it; a filter of bits turns most lines away at once."""

    keys: NDArray[np.uint64]
    rows: NDArray[np.int64]
    grades: NDArray[np.int64]
    documents: list[bytes]
    filter: NDArray[np.bool_]
    ideal: Gains
    refuted: NDArray[np.int64]

    @classmethod
    def of(cls, qrels: Mapping[str, Mapping[str, int]], query_ids: Sequence[str]) -> _Judged:
        """Hash the judgments of each row.

        Raises:
            InputError: as `JudgedRun.of`.
        """
        empty = JudgedRun.of(qrels, {})
        documents = [document.encode() for query in query_ids for document in qrels[query]]
        rows = np.repeat(np.arange(len(qrels)), [len(qrels[query]) for query in query_ids])
        grades = np.array([int(grade) for query in query_ids for grade in qrels[query].values()], np.int64)
        ends = np.cumsum([len(document) for document in documents], dtype=np.int64)
        buffer = np.frombuffer(b"".join([*documents, bytes(PADDING)]), np.uint8)
        keys = mixed(hashed(buffer, np.concatenate(([0], ends))[:-1].astype(np.int64), ends) + rows.astype(np.uint64))
        order = np.argsort(keys)
        sieve = np.zeros(1 << _FILTER_BITS, bool)
        sieve[keys >> np.uint64(64 - _FILTER_BITS)] = True
        return cls(keys[order], rows[order], grades[order], [documents[i] for i in order.tolist()], sieve, empty.ideal, empty.refuted)

    def find(self, keys: NDArray[np.uint64], rows: NDArray[np.int64], columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the lines that hold a judged document, and which judgment each one meets; bytes are compared, a hash is only a guess."""
        lines = np.flatnonzero(self.filter[keys >> np.uint64(64 - _FILTER_BITS)] & (rows >= 0))
        which = np.minimum(np.searchsorted(self.keys, keys[lines]), max(len(self.keys) - 1, 0))
        same = self.keys[which] == keys[lines] if len(self.keys) else np.zeros(len(lines), bool)
        lines, which = lines[same], which[same]
        text = columns.block
        bounds = zip(columns.document[lines].tolist(), columns.document_end[lines].tolist(), which.tolist(), strict=True)
        same = np.array([text[a:b] == self.documents[j] for a, b, j in bounds], bool)
        same &= self.rows[which] == rows[lines]
        return lines[same], which[same]


def _disordered(scores: NDArray[np.float64], segment: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the segments whose scores do not fall from line to line by more than rounding."""
    tied = ~(scores[1:] < bar(scores[:-1])) & (segment[1:] == segment[:-1])
    return np.unique(segment[1:][tied])


def _twice(keys: NDArray[np.uint64], segment: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the segments in which a document seems to come twice."""
    ordered = np.sort(keys)
    doubled = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.unique(segment[np.isin(keys, doubled)]) if len(doubled) else np.empty(0, np.int64)
