"""Chroma as a memory: its persistent client in a temporary folder, HNSW over cosine distance."""

from __future__ import annotations

from datetime import datetime
from tempfile import TemporaryDirectory
from typing import Any

from ...embedders.embedding import Embedder
from ...text.rendering import embedded_text
from ..adapter import Adapter, Found, query_vector
from ..catalogue import Partition
from ..extras import require


class Chroma(Adapter):
    """A collection a scope, filled with our embedder's vectors, so that nothing is downloaded and only the search differs.

    Args:
        embedder: gives the vectors of documents and queries.

    Raises:
        InputError: chromadb is not installed.
    """

    packages = ("chromadb",)
    text = staticmethod(embedded_text)

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        require("chromadb", "chroma")
        self._folder: TemporaryDirectory[str] | None = None
        self._client: Any = None

    def open(self) -> None:
        """Open a client on an empty folder."""
        self._folder = TemporaryDirectory(prefix="recallmeter-chroma-")
        chromadb = require("chromadb", "chroma")
        self._client = chromadb.PersistentClient(self._folder.name, chromadb.Settings(anonymized_telemetry=False))

    def close(self) -> None:
        """Close the client and remove its folder."""
        super().close()
        if self._client is not None:
            self._client.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = self._client = None

    def build(self, partition: Partition) -> _Collection:
        """Fill a collection in batches of what Chroma takes at once."""
        collection = self._client.create_collection(partition.name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
        vectors = self.embedder.embed([d.text for d in partition.documents])
        size = self._client.get_max_batch_size()
        for start in range(0, len(partition.documents), size):
            batch = partition.documents[start : start + size]
            collection.add(
                ids=[d.id for d in batch],
                embeddings=vectors[start : start + size],
                metadatas=[{"moment": d.timestamp.timestamp()} for d in batch],
            )
        return _Collection(self.embedder, collection)


class _Collection:
    def __init__(self, embedder: Embedder, collection: Any) -> None:
        self.embedder, self.collection = embedder, collection

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        vector = query_vector(self.embedder, query)
        where = None if asked_at is None else {"moment": {"$lte": asked_at.timestamp()}}
        answer = self.collection.query(query_embeddings=[vector], n_results=k, where=where, include=["distances"])
        return [(identifier, 1 - distance) for identifier, distance in zip(answer["ids"][0], answer["distances"][0], strict=True)]
