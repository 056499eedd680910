"""Encoders with weights on this machine, through sentence-transformers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...datasets.errors import InputError
from ...datasets.hub import hub_access
from ...datasets.unicode import encodable
from .embedding import Kind, Vectors
from .models import PACKAGED_NAME, configuration_sha256, model_folder, weights_sha256

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class SentenceTransformerEncoder:
    """A sentence-transformers model, by default the packaged all-MiniLM-L6-v2.

    Args:
        path: folder of the model, or its name on the Hugging Face hub; None stands for the packaged one.
        name: what to call it in reports; None takes the last part of the path.
        sha256: what the weights must hash to (hex); None accepts any and records what it is.
        batch_size: texts a forward pass.
        query_prompt: what is put before a query; None leaves it to the model, "" puts nothing.
        document_prompt: what is put before a document; None leaves it to the model, "" puts nothing.
        download: whether a model of the hub that is not on this machine may be fetched.

    Raises:
        InputError: no such folder or model, no weights in it, or weights with another hash.
    """

    shaped_by_model = True
    packages: ClassVar = ("sentence-transformers", "transformers", "tokenizers", "torch")

    def __init__(
        self,
        path: str | None = None,
        name: str | None = None,
        sha256: str | None = None,
        batch_size: int = 32,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        download: bool = False,
    ) -> None:
        self.path = model_folder(path, download=download)
        if not isinstance(batch_size, int) or batch_size < 1:
            raise InputError(f"batch_size {batch_size!r} is not a whole number of at least 1", where="embedder.encoder.batch_size")
        self.batch_size = batch_size
        self.prompts: dict[Kind, str | None] = {"query": query_prompt, "document": document_prompt}
        self.sha256 = weights_sha256(self.path)
        if sha256 is not None and self.sha256 != sha256:
            remedy = "install the pinned package again" if path is None else "set embedder.encoder.sha256 to what you trust, or null"
            raise InputError(f"the weights hash to {self.sha256}, not to {sha256}", where=str(self.path), remedy=remedy)
        called = name or (Path(path).name if path else PACKAGED_NAME)
        self.model = f"{called}{_mark(self.prompts)}@{self.sha256}+{configuration_sha256(self.path)[:12]}"

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return the vectors of the texts, shape (n, d), normalised as the model's own last module says."""
        clean = [encodable(text) for text in texts]
        encode = self._network.encode_query if kind == "query" else self._network.encode_document
        vectors: Any = encode(clean, prompt=self.prompts[kind], batch_size=self.batch_size, convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)

    @cached_property
    def _network(self) -> SentenceTransformer:
        return _load(str(self.path), self.model)


@lru_cache(maxsize=2)
def _load(path: str, model: str) -> SentenceTransformer:
    del model  # a folder that was changed is another model
    hub_access(allowed=False)
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # it would land in logs
    return SentenceTransformer(path, device="cpu", local_files_only=True)


def _mark(prompts: dict[Kind, str | None]) -> str:
    """Return what sets a model with these prompts apart from the same weights without them."""
    if all(prompt is None for prompt in prompts.values()):
        return ""
    return f"+prompts-{hashlib.sha256(repr(sorted(prompts.items())).encode()).hexdigest()[:8]}"
