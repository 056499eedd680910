"""A LlamaIndex index as a memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ...embedders.embedding import Embedder
from ...text.rendering import embedded_text
from ..adapter import Adapter, Found, positive, query_vector
from ..catalogue import Partition
from ..extras import require


class LlamaIndex(Adapter):
    """An index a scope, made from LlamaIndex documents; its nodes are chunks, found again by the document they come from.

    Args:
        build: (documents, embedder) → an index with ``as_retriever``; in YAML a ``_target_`` with ``_partial_: true``.
        embedder: what `build` may take its vectors from.
        oversample: how many times k nodes are asked for.

    Raises:
        InputError: llama-index-core is not installed.
    """

    packages = ("llama-index-core",)
    text = staticmethod(embedded_text)
    chunked = True

    def __init__(self, build: Callable[[list[Any], Embedder], Any], embedder: Embedder, oversample: int = 2) -> None:
        self._build, self.embedder, self.oversample = build, embedder, int(positive("oversample", oversample))
        require("llama_index.core", "llamaindex")
        self._documents = self._nodes = 0

    def open(self) -> None:
        """Count documents and nodes anew."""
        self._documents = self._nodes = 0

    def build(self, partition: Partition) -> _Index:
        """Make the index of one scope."""
        document = require("llama_index.core", "llamaindex").Document
        documents = [
            document(
                id_=d.id,
                text=d.text,
                metadata={"moment": d.timestamp.timestamp()},
                # a node's metadata is read along with its text unless it is excluded
                excluded_embed_metadata_keys=["moment"],
                excluded_llm_metadata_keys=["moment"],
            )
            for d in partition.documents
        ]
        index = self._build(documents, self.embedder)
        self._documents += len(documents)
        self._nodes += len(index.docstore.docs)
        return _Index(index)

    def report(self) -> dict[str, Any]:
        """Return the versions, and how many nodes were made of how many observations."""
        return {**super().report(), "observations": self._documents, "chunks": self._nodes}


class _Index:
    def __init__(self, index: Any) -> None:
        self.index = index

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        nodes = self.index.as_retriever(similarity_top_k=k, filters=self._until(asked_at)).retrieve(query)
        return [(node.node.ref_doc_id, 1 / rank if node.score is None else node.score) for rank, node in enumerate(nodes, start=1)]

    def _until(self, asked_at: datetime | None) -> Any:
        if asked_at is None:
            return None
        f = require("llama_index.core.vector_stores", "llamaindex")
        return f.MetadataFilters(filters=[f.MetadataFilter(key="moment", value=asked_at.timestamp(), operator=f.FilterOperator.LTE)])


def llamaindex_vector_store(documents: list[Any], embedder: Embedder) -> Any:
    """Return LlamaIndex's own in-memory vector index with its own splitter, filled with our embedder's vectors."""
    core = require("llama_index.core", "llamaindex")
    embeddings = require("llama_index.core.embeddings", "llamaindex")

    class Embeddings(embeddings.BaseEmbedding):
        def _get_text_embeddings(self, texts: Sequence[str]) -> list[list[float]]:
            return embedder.embed(texts).tolist()

        def _get_text_embedding(self, text: str) -> list[float]:
            return embedder.embed([text])[0].tolist()

        def _get_query_embedding(self, query: str) -> list[float]:
            return query_vector(embedder, query).tolist()

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    def numbered(position: int, document: Any) -> str:  # the default is a random id, and equal scores are ordered by it
        return f"{document.node_id}-{position}"

    splitter = require("llama_index.core.node_parser", "llamaindex").SentenceSplitter(id_func=numbered)
    model = Embeddings(model_name=embedder.model)
    return core.VectorStoreIndex.from_documents(documents, embed_model=model, transformations=[splitter])
