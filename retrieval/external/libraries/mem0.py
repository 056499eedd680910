"""mem0 as a memory: texts added as they are (no language model), its embedded Qdrant store, our embedder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

from ....datasets.errors import InputError
from ....datasets.hub import hub_access
from ...embedders.embedding import Embedder
from ...text.rendering import embedded_text
from ..adapter import Adapter, Found, query_vector
from ..catalogue import Partition
from ..extras import require

NO_KEY = "never-sent"
"""mem0 builds a client for a language model that ``infer=False`` never calls; the client wants a key to be built."""


class Mem0(Adapter):
    """A mem0 ``Memory`` in a temporary folder, a scope being a mem0 user.

    Telemetry is switched off, so that nothing is sent anywhere. Without the packages spaCy and fastembed, whose models are
    downloaded, mem0 searches by vectors alone; with them it mixes in keywords and entities.

    Args:
        embedder: gives the vectors of documents and queries.
        threshold: mem0 leaves out what scores less; its own default.

    Raises:
        InputError: mem0ai is not installed, or spaCy is without the model that mem0 would download.
    """

    packages = ("mem0ai", "qdrant-client")
    text = staticmethod(embedded_text)

    def __init__(self, embedder: Embedder, threshold: float = 0.1) -> None:
        self.embedder, self.threshold = embedder, threshold
        self._folder: TemporaryDirectory[str] | None = None
        self._memory: Any = None
        if find_spec("spacy") and not find_spec("en_core_web_sm"):
            raise InputError("mem0 would download spaCy's model en_core_web_sm", where="mem0", remedy="install it, or uninstall spaCy")
        hub_access(allowed=False)  # fastembed would download, too
        os.environ["MEM0_TELEMETRY"] = "False"  # this and the folder are read when mem0 is imported
        with TemporaryDirectory(prefix="recallmeter-mem0-") as home:
            os.environ.setdefault("MEM0_DIR", home)
            require("mem0", "mem0")

    def open(self) -> None:
        """Make an empty memory."""
        self._folder = TemporaryDirectory(prefix="recallmeter-mem0-")
        dimensions = self.embedder.embed(["width"]).shape[1]
        model = {"provider": "openai", "config": {"api_key": NO_KEY}}
        store = {"collection_name": "memory", "embedding_model_dims": dimensions, "path": self._folder.name, "on_disk": True}
        self._memory = require("mem0", "mem0").Memory.from_config(
            {
                "llm": model,
                "embedder": model,
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": ":memory:",
            }
        )
        self._memory.embedding_model = _Embedding(self.embedder)

    def close(self) -> None:
        """Close the store and remove its folder."""
        super().close()
        if self._memory is not None:
            self._memory.close()
            self._memory.vector_store.client.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = self._memory = None

    def build(self, partition: Partition) -> _User:
        """Add one scope, a text at a time, which is how mem0 adds."""
        self._memory.embedding_model.prepare([d.text for d in partition.documents])
        for d in partition.documents:
            metadata = {"document": d.id, "moment": d.timestamp.timestamp()}
            self._memory.add(d.text, user_id=partition.name, metadata=metadata, infer=False)
        return _User(self, partition.name)

    def ask(self, user: str, query: str, k: int, asked_at: datetime | None) -> Found:
        """Search what one mem0 user holds."""
        filters: dict[str, Any] = {"user_id": user}
        if asked_at is not None:
            filters["moment"] = {"lte": asked_at.timestamp()}
        answer = self._memory.search(query, top_k=k, filters=filters, threshold=self.threshold)
        return [(hit["metadata"]["document"], hit["score"]) for hit in answer["results"]]


class _User:
    def __init__(self, system: Mem0, name: str) -> None:
        self.system, self.name = system, name

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        return self.system.ask(self.name, query, k, asked_at)


class _Embedding:
    """Our embedder under the name that mem0 calls it by."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._prepared: dict[str, list[float]] = {}

    def prepare(self, texts: Sequence[str]) -> None:
        self._prepared = dict(zip(texts, self.embedder.embed(texts).tolist(), strict=True))

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        if memory_action == "search":
            return query_vector(self.embedder, text).tolist()
        return self._prepared[text] if text in self._prepared else self.embedder.embed([text])[0].tolist()

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]
