"""SQLite's full-text search as a memory: FTS5 with its own BM25 (k1 1.2, b 0.75, fixed)."""

from __future__ import annotations

import re
import sqlite3
from datetime import datetime
from typing import Any

from ....datasets.errors import InputError
from ..adapter import Adapter, Found
from ..catalogue import Partition

_WORD = re.compile(r"\w+")


class SqliteFts5(Adapter):
    """An in-memory FTS5 table a scope, since FTS5 weighs words by how rare they are in the whole table.

    Args:
        tokenizer: as FTS5 spells it, such as ``porter unicode61`` or ``trigram``.

    Raises:
        InputError: this SQLite has no FTS5, or not this tokenizer.
    """

    def __init__(self, tokenizer: str = "porter unicode61") -> None:
        self.tokenizer, self.needs_spaces = tokenizer, not tokenizer.startswith("trigram")
        try:
            _Table(tokenizer)
        except sqlite3.Error as error:
            raise InputError(str(error), where="tokenizer", remedy="see the tokenizers of SQLite's FTS5") from error

    def build(self, partition: Partition) -> _Table:
        """Fill a table of its own."""
        table = _Table(self.tokenizer)
        table.fill(partition)
        return table

    def report(self) -> dict[str, Any]:
        """Return SQLite's version."""
        return {"packages": {"sqlite": sqlite3.sqlite_version}}


class _Table:
    def __init__(self, tokenizer: str) -> None:
        self._database = sqlite3.connect(":memory:")
        quoted = tokenizer.replace("'", "''")
        self._database.execute(f"CREATE VIRTUAL TABLE memory USING fts5(id UNINDEXED, moment UNINDEXED, text, tokenize='{quoted}')")

    def fill(self, partition: Partition) -> None:
        rows = [(d.id, d.timestamp.timestamp(), d.text.replace("\0", " ")) for d in partition.documents]
        with self._database:
            self._database.executemany("INSERT INTO memory VALUES (?, ?, ?)", rows)

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        words = dict.fromkeys(_WORD.findall(query.casefold()))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        latest = float("inf") if asked_at is None else asked_at.timestamp()
        statement = "SELECT id, -bm25(memory) FROM memory WHERE memory MATCH ? AND moment <= ? ORDER BY rank, rowid LIMIT ?"
        return self._database.execute(statement, (match, latest, k)).fetchall()
