"""A cross-encoder: a model that reads a question and a text together and scores the pair."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ...datasets.hub import hub_access
from ...datasets.unicode import encodable
from ..embedders.models import configuration_sha256, model_folder
from ..source import content_sha256

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder as Network


class CrossEncoder:
    """A sentence-transformers cross-encoder by folder, or by the name under which the hub's cache has it.

    Args:
        name: a folder, or a hub name such as ``cross-encoder/ms-marco-MiniLM-L6-v2``.
        batch_size: pairs a forward pass.

    Raises:
        InputError: no such model, or one that gives more than a score a pair.
    """

    shaped_by_model = True
    packages: ClassVar = ("sentence-transformers", "transformers", "tokenizers", "torch")

    def __init__(self, name: str, batch_size: int = 32) -> None:
        self.name, self.batch_size = name, batch_size

    @cached_property
    def model(self) -> str:
        """The model's name and the SHA-256 of its files."""
        folder = model_folder(self.name)
        weights = [content_sha256(file) for file in sorted(folder.rglob("*.safetensors"))]
        return f"{Path(self.name).name}@{hashlib.sha256(' '.join((*weights, configuration_sha256(folder))).encode()).hexdigest()}"

    def score(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return one score a text, shape (n,)."""
        pairs = [(encodable(question), encodable(text)) for text in texts]
        if not pairs:
            return np.empty(0)
        scores: Any = self._network.predict(pairs, batch_size=self.batch_size, show_progress_bar=False)
        scores = np.asarray(scores, np.float64)
        if scores.shape != (len(pairs),):
            raise InputError(f"{len(pairs)} pairs gave shape {scores.shape}", where=self.name, remedy="use a model with one label")
        return scores

    @cached_property
    def _network(self) -> Network:
        hub_access(allowed=False)
        from sentence_transformers import CrossEncoder as Network

        try:
            return Network(self.name, device="cpu", local_files_only=True)
        except (OSError, ValueError) as error:
            what = f"no cross-encoder there ({str(error).splitlines()[0]})"
            raise InputError(what, where=self.name, remedy="name a folder that holds one") from error
