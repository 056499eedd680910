"""Encoders through ONNX Runtime (extra ``onnx``): the same vectors in less time, and no torch once exported."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...datasets.errors import InputError
from ...datasets.unicode import encodable
from ..source import content_sha256
from .embedding import Kind, Vectors
from .models import PACKAGED_NAME, configuration_sha256, model_folder, packaged, weights_sha256
from .onnx_export import exported, not_installed

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

MAX_TOKENS = 256
"""Tokens of a text that all-MiniLM-L6-v2 reads, as its ``sentence_bert_config.json`` says."""


class OnnxEncoder:
    """A sentence encoder as an ONNX graph; by default the packaged all-MiniLM-L6-v2, exported in fp32 when first used.

    A graph that gives a vector a token is mean-pooled here over the tokens that are not padding.

    Args:
        file: the ONNX file; None exports the model in `folder` into the cache, which needs torch once.
        package: an installed package that carries ``model.onnx``, in place of `file`.
        folder: folder of the model, for its tokenizer and for the export; None stands for the packaged one.
        name: what to call it in reports; None takes that of the folder, the package or the file.
        sha256: what the ONNX file or, when it is exported, the weights must hash to (hex); None accepts any.
        batch_size: texts a run of the graph.
        max_tokens: tokens of a text that are read.
        threads: threads a run may use; None leaves it to ONNX Runtime.

    Raises:
        InputError: a file, folder or package is not there, or hashes to something else.
    """

    shaped_by_model = True
    packages: ClassVar = ("onnxruntime", "tokenizers")

    def __init__(
        self,
        file: str | None = None,
        package: str | None = None,
        folder: str | None = None,
        name: str | None = None,
        sha256: str | None = None,
        batch_size: int = 32,
        max_tokens: int = MAX_TOKENS,
        threads: int | None = None,
    ) -> None:
        if file and package:
            raise InputError("both a file and a package are named", where="embedder.encoder", remedy="set one of them to null")
        self.folder = model_folder(folder)
        self.batch_size, self.max_tokens, self.threads = batch_size, max_tokens, threads
        self.file = packaged(package) / "model.onnx" if package else Path(file) if file else None
        if self.file is not None and not self.file.is_file():
            raise InputError("no such file", where=str(self.file), remedy="name an ONNX file, or null to export one")
        self.sha256 = content_sha256(self.file) if self.file else weights_sha256(self.folder)
        if sha256 is not None and self.sha256 != sha256:
            raise InputError(
                f"it hashes to {self.sha256}, not to {sha256}", where=str(self.file or self.folder), remedy="see embedder.encoder.sha256"
            )
        shape = hashlib.sha256(f"{configuration_sha256(self.folder)} {max_tokens}".encode()).hexdigest()
        self.model = f"{name or _called(file, package, folder)}@{self.sha256}+{shape[:12]}"

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return the vectors of the texts, shape (n, d), as the graph gives them.

        Raises:
            UnavailableError: the extra is not installed.
        """
        del kind  # a graph has no prompts
        # texts of like length share a batch, so that little of it is padding
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        vectors: list[Any] = [None] * len(texts)
        for start in range(0, len(order), self.batch_size):
            rows = order[start : start + self.batch_size]
            for row, vector in zip(rows, self._run([texts[row] for row in rows]), strict=True):
                vectors[row] = vector
        return np.array(vectors, np.float32)

    def _run(self, texts: Sequence[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch([encodable(text) for text in texts])
        inputs = {
            "input_ids": np.array([e.ids for e in encoded], np.int64),
            "attention_mask": np.array([e.attention_mask for e in encoded], np.int64),
            "token_type_ids": np.array([e.type_ids for e in encoded], np.int64),
        }
        wanted = {node.name for node in self._session.get_inputs()}
        output: Any = self._session.run(None, {name: values for name, values in inputs.items() if name in wanted})[0]
        if output.ndim == 2:
            return output
        mask = inputs["attention_mask"][:, :, None]
        return (output * mask).sum(axis=1) / mask.sum(axis=1)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise not_installed("tokenizers") from None
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.enable_truncation(self.max_tokens)
        tokenizer.enable_padding(pad_id=tokenizer.token_to_id("[PAD]") or 0)
        return tokenizer

    @cached_property
    def _session(self) -> InferenceSession:
        try:
            import onnxruntime
        except ImportError:
            raise not_installed("onnxruntime") from None
        options: Any = onnxruntime.SessionOptions()
        if self.threads:
            options.intra_op_num_threads = self.threads
        file = self.file or exported(self.folder, self.model.rpartition("@")[2])
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def _called(file: str | None, package: str | None, folder: str | None) -> str:
    if file or package:
        return Path(file).stem if file else str(package).replace("_", "-")
    return f"{Path(folder).name if folder else PACKAGED_NAME}-onnx"
