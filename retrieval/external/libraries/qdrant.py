"""Qdrant as a memory: the client's local mode, which searches exactly, or a server by URL."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ...embedders.embedding import Embedder
from ...text.rendering import embedded_text
from ..adapter import Adapter, Found, query_vector
from ..catalogue import Partition
from ..extras import require


class Qdrant(Adapter):
    """A collection a scope, filled with our embedder's vectors, cosine similarity.

    Args:
        embedder: gives the vectors of documents and queries.
        url: a Qdrant server; None stands for the client's local mode in memory.
        prefix: what the names of our collections on a server begin with; collections of these names are replaced.

    Raises:
        InputError: qdrant-client is not installed.
    """

    packages = ("qdrant-client",)
    text = staticmethod(embedded_text)

    def __init__(self, embedder: Embedder, url: str | None = None, prefix: str = "recallmeter-") -> None:
        self.embedder, self.url, self.prefix = embedder, url, prefix
        require("qdrant_client", "qdrant")
        self._client: Any = None

    def open(self) -> None:
        """Open the client."""
        client = require("qdrant_client", "qdrant").QdrantClient
        self._client = client(url=self.url) if self.url else client(":memory:")

    def close(self) -> None:
        """Close the client."""
        super().close()
        if self._client is not None:
            self._client.close()
            self._client = None

    def build(self, partition: Partition) -> _Collection:
        """Fill a collection."""
        name, models = self.prefix + partition.name, require("qdrant_client.models", "qdrant")
        vectors = self.embedder.embed([d.text for d in partition.documents])
        if self._client.collection_exists(name):
            self._client.delete_collection(name)
        params = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
        self._client.create_collection(name, vectors_config=params)
        self._client.upload_collection(
            name,
            vectors=vectors,
            payload=[{"id": d.id, "moment": d.timestamp.timestamp()} for d in partition.documents],
            ids=range(len(partition.documents)),
            wait=True,
        )
        return _Collection(self.embedder, self._client, models, name)


class _Collection:
    def __init__(self, embedder: Embedder, client: Any, models: Any, name: str) -> None:
        self.embedder, self.client, self.models, self.name = embedder, client, models, name

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        vector = query_vector(self.embedder, query)
        answer = self.client.query_points(
            self.name, query=vector.tolist(), limit=k, query_filter=self._until(asked_at), with_payload=["id"]
        )
        return [(point.payload["id"], point.score) for point in answer.points]

    def _until(self, asked_at: datetime | None) -> Any:
        if asked_at is None:
            return None
        m = self.models
        return m.Filter(must=[m.FieldCondition(key="moment", range=m.Range(lte=asked_at.timestamp()))])
