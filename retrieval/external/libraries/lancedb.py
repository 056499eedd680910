"""LanceDB as a memory: tables in a temporary folder, searched without an approximate index."""

from __future__ import annotations

from datetime import datetime
from tempfile import TemporaryDirectory
from typing import Any

from ...embedders.embedding import Embedder
from ...text.rendering import embedded_text
from ..adapter import Adapter, Found, query_vector
from ..catalogue import Partition
from ..extras import require


class LanceDB(Adapter):
    """A table a scope, filled with our embedder's vectors, cosine distance.

    Args:
        embedder: gives the vectors of documents and queries.

    Raises:
        InputError: lancedb is not installed.
    """

    packages = ("lancedb",)
    text = staticmethod(embedded_text)

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        require("lancedb", "lancedb")
        self._folder: TemporaryDirectory[str] | None = None
        self._database: Any = None

    def open(self) -> None:
        """Open a database in an empty folder."""
        self._folder = TemporaryDirectory(prefix="recallmeter-lancedb-")
        self._database = require("lancedb", "lancedb").connect(self._folder.name)

    def close(self) -> None:
        """Remove the folder."""
        super().close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = self._database = None

    def build(self, partition: Partition) -> _Table:
        """Fill a table."""
        vectors, arrow = self.embedder.embed([d.text for d in partition.documents]), require("pyarrow", "lancedb")
        rows = arrow.table(
            {
                "id": [d.id for d in partition.documents],
                "moment": [d.timestamp.timestamp() for d in partition.documents],
                "vector": arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.ravel()), vectors.shape[1]),
            }
        )
        return _Table(self.embedder, self._database.create_table(partition.name, data=rows))


class _Table:
    def __init__(self, embedder: Embedder, table: Any) -> None:
        self.embedder, self.table = embedder, table

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        search = self.table.search(query_vector(self.embedder, query)).distance_type("cosine").limit(k)
        if asked_at is not None:
            search = search.where(f"moment <= {asked_at.timestamp()!r}", prefilter=True)
        return [(row["id"], 1 - row["_distance"]) for row in search.select(["id", "_distance"]).to_list()]
