"""A LangChain retriever as a memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ...embedders.embedding import Embedder
from ...text.rendering import embedded_text
from ..adapter import Adapter, Found, positive, query_vector
from ..catalogue import Partition
from ..extras import require


class LangChain(Adapter):
    """A retriever a scope, made from LangChain documents.

    LangChain's retrievers answer with an order and no scores, so a hit scores 1 / rank. They know nothing of time: asked
    about the past, they may answer from the future, which is counted as their fault. A splitter copies a document's
    metadata, and by ``metadata["document"]`` its chunks are found again.

    Args:
        build: (documents, embedder) → ``BaseRetriever``; in YAML a ``_target_`` with ``_partial_: true``.
        embedder: what `build` may take its vectors from.
        oversample: how many times k a retriever over chunks is asked for.

    Raises:
        InputError: langchain-core is not installed.
    """

    packages = ("langchain-core",)
    text = staticmethod(embedded_text)
    chunked = True

    def __init__(self, build: Callable[[list[Any], Embedder], Any], embedder: Embedder, oversample: int = 1) -> None:
        self._build, self.embedder, self.oversample = build, embedder, int(positive("oversample", oversample))
        require("langchain_core", "langchain")

    def build(self, partition: Partition) -> _Retriever:
        """Make the retriever of one scope."""
        document = require("langchain_core.documents", "langchain").Document
        documents = [
            document(
                id=d.id,
                page_content=d.text,
                metadata={"document": d.id, "session": d.session, "timestamp": d.timestamp.isoformat(), "importance": d.importance},
            )
            for d in partition.documents
        ]
        return _Retriever(self._build(documents, self.embedder))


class _Retriever:
    def __init__(self, retriever: Any) -> None:
        self.retriever = retriever

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        if "k" in type(self.retriever).model_fields:
            self.retriever.k = k  # how retrievers without a vector store are told
        documents = self.retriever.invoke(query, k=k)
        return [(str(document.metadata["document"]), 1 / rank) for rank, document in enumerate(documents, start=1)]


def langchain_in_memory(documents: list[Any], embedder: Embedder) -> Any:
    """Return a retriever over LangChain's own in-memory vector store, filled with our embedder's vectors."""
    embeddings = require("langchain_core.embeddings", "langchain")
    vectorstores = require("langchain_core.vectorstores", "langchain")

    class Embeddings(embeddings.Embeddings):
        def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
            return embedder.embed(texts).tolist()

        def embed_query(self, text: str) -> list[float]:
            return query_vector(embedder, text).tolist()

    store = vectorstores.InMemoryVectorStore(Embeddings())
    store.add_documents(documents)
    return store.as_retriever()
