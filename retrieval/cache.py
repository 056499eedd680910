"""What was computed before, on disk: bytes by key, checked before they are believed, safe with several processes at once."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..datasets.errors import InputError

FORMAT = 2
"""Of the table; a cache of another format is emptied, since it can be computed again."""

MEMORY = ":memory:"

_TABLE = """CREATE TABLE kept (
    key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum BLOB NOT NULL, maker TEXT NOT NULL, written REAL NOT NULL
) WITHOUT ROWID"""

T = TypeVar("T")

_log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Return where computed things are kept: ``$RECALLMETER_CACHE``, else ``recallmeter`` in the user's cache folder."""
    chosen = os.environ.get("RECALLMETER_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recallmeter"


class Kept(NamedTuple):
    """What a cache keeps of one maker: how many values, their bytes, and when the first and the last were written (seconds)."""

    maker: str
    values: int
    size: int
    first: float
    last: float


class Cache:
    """One table of bytes by key in one file of a folder.

    First come, first kept: two processes that compute the same thing then read the same bytes. A value whose checksum is wrong is no
    value: it is dropped, said in a warning, and computed again; a file that is no database any more is laid aside.
    """

    _CHUNK = 500  # SQLite's limit of host parameters is 999 in old builds

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder()) / f"{name}.sqlite"
        self._connection: sqlite3.Connection | None = None

    @classmethod
    def of_this_process(cls) -> Cache:
        """Return a cache that nothing outlives."""
        cache = cls("memory")
        cache.path = Path(MEMORY)
        return cache

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return what is there of `keys` and as it was written.

        Raises:
            InputError: the file can't be read.
        """
        return self._with(lambda database: self._read(database, keys))

    def write(self, values: Mapping[bytes, bytes], maker: str = "") -> None:
        """Keep `values`, except those whose key is there already.

        Args:
            maker: what computed them, such as a model.

        Raises:
            InputError: the file can't be written.
        """
        now = time.time()
        rows = [(key, value, _checksum(key, value), maker, now) for key, value in values.items()]
        self._with(lambda database: database.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?, ?, ?, ?)", rows))

    def makers(self) -> list[Kept]:
        """Return what is kept, by maker."""
        query = "SELECT maker, COUNT(*), SUM(LENGTH(value)), MIN(written), MAX(written) FROM kept GROUP BY maker ORDER BY maker"
        return self._with(lambda database: [Kept(*row) for row in database.execute(query)])

    def clear(self, makers: Sequence[str], before: float = float("inf")) -> int:
        """Remove the values of these makers that were written before a time (in seconds); return how many."""
        rows = [(maker, before) for maker in makers]
        removed = self._with(lambda database: database.executemany("DELETE FROM kept WHERE maker = ? AND written < ?", rows).rowcount)
        self._with(lambda database: (database.commit(), database.execute("VACUUM")))  # gives the space back
        return removed

    def verify(self) -> tuple[int, int]:
        """Return how many values there are, and how many of them are not as they were written."""

        def checked(database: sqlite3.Connection) -> tuple[int, int]:
            rows = database.execute("SELECT key, value, checksum FROM kept")
            sound = [check == _checksum(key, value) for key, value, check in rows]
            return len(sound), sound.count(False)

        return self._with(checked)

    def _read(self, database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found, damaged = dict[bytes, bytes](), list[bytes]()
        for start in range(0, len(keys), self._CHUNK):
            chunk = keys[start : start + self._CHUNK]
            marks = ",".join("?" * len(chunk))
            for key, value, check in database.execute(f"SELECT key, value, checksum FROM kept WHERE key IN ({marks})", chunk):
                if check == _checksum(key, value):
                    found[key] = value
                else:
                    damaged.append(key)
        if damaged:
            _log.warning("%s: %d entries are damaged and are computed again", self.path, len(damaged))
            database.executemany("DELETE FROM kept WHERE key = ?", [(key,) for key in damaged])
        return found

    def _with(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `work` makes of the database; one that is damaged is laid aside, and `work` gets an empty one."""
        try:
            try:
                return self._worked(work)
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", None) not in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                    raise
                self._lay_aside(str(error))
                return self._worked(work)
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"the cache can't be used ({error})", where=str(self.path), remedy="delete it, or set RECALLMETER_CACHE"
            ) from error

    def _worked(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._connected()
        with self._connection:
            return work(self._connection)

    def _connected(self) -> sqlite3.Connection:
        if str(self.path) != MEMORY:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
        try:
            if connection.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
                with connection:  # one process makes the table, the others wait and find it made
                    connection.execute("BEGIN IMMEDIATE")
                    if connection.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
                        connection.execute("DROP TABLE IF EXISTS kept")
                        connection.execute(_TABLE)
                        connection.execute(f"PRAGMA user_version = {FORMAT}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _lay_aside(self, why: str) -> None:
        """Rename a damaged file, unless another process did so in the meantime."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        with self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._damaged():
                aside = self.path.with_suffix(f".damaged-{time.time_ns()}")
                os.replace(self.path, aside)
                _log.warning("%s is damaged (%s); what it held is computed again, the file is now %s", self.path, why, aside.name)

    def _damaged(self) -> bool:
        try:
            connection = sqlite3.connect(self.path, timeout=60)
        except sqlite3.Error:
            return True
        try:
            return connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"
        except sqlite3.DatabaseError:
            return True
        finally:
            connection.close()

    def __getstate__(self) -> dict[str, object]:
        return {"path": self.path, "_connection": None}  # a connection does not travel between processes


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=8, key=key[:64]).digest()
