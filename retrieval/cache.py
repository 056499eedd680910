"""What was computed before, on disk: bytes by key, safe with several processes at once."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..datasets.errors import InputError


def cache_folder() -> Path:
    """Return where computed things are kept: ``$RECALLMETER_CACHE``, else ``recallmeter`` in the user's cache folder."""
    chosen = os.environ.get("RECALLMETER_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recallmeter"


class Cache:
    """One table of bytes by key in one file of a folder.

    First come, first kept: two processes that compute the same thing then read the same bytes.
    """

    _CHUNK = 500  # SQLite's limit of host parameters is 999 in old builds

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder()) / f"{name}.sqlite"
        self._connection: sqlite3.Connection | None = None

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return what is there of `keys`.

        Raises:
            InputError: the file can't be read or is damaged.
        """
        found: dict[bytes, bytes] = {}
        with self._open() as database:
            for start in range(0, len(keys), self._CHUNK):
                chunk = keys[start : start + self._CHUNK]
                marks = ",".join("?" * len(chunk))
                found.update(database.execute(f"SELECT key, value FROM kept WHERE key IN ({marks})", chunk))
        return found

    def write(self, values: Mapping[bytes, bytes]) -> None:
        """Keep `values`, except those whose key is there already.

        Raises:
            InputError: the file can't be written or is damaged.
        """
        with self._open() as database:
            database.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?)", values.items())

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            if self._connection is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
                self._connection.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
            with self._connection:
                yield self._connection
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"the cache can't be used ({error})", where=str(self.path), remedy="delete it, or set RECALLMETER_CACHE"
            ) from error

    def __getstate__(self) -> dict[str, object]:
        return {"path": self.path, "_connection": None}  # a connection does not travel between processes
