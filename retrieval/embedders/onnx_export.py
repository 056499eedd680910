"""A sentence-transformers model as one ONNX graph."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from ...datasets.file import replacing, write_file
from ..cache import cache_folder
from ..source import content_sha256
from ..unavailable import UnavailableError


def exported(folder: Path, identity: str) -> Path:
    """Return the ONNX file of a sentence-transformers model, exported in fp32 into the cache unless it is there.

    The graph holds all modules of the model, pooling and normalisation too, for batches and texts of any length.

    Args:
        folder: the model.
        identity: hash of its weights and configuration; names the file.

    Raises:
        UnavailableError: what the export needs is not installed.
    """
    target = cache_folder() / "onnx" / f"{identity}.onnx"
    if is_sound(target):
        return target
    try:
        import onnxscript  # torch's exporter needs it, and says so less clearly
        import torch
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise not_installed(str(error.name)) from None
    del onnxscript
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    class Graph(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model({"input_ids": input_ids, "attention_mask": attention_mask})["sentence_embedding"]

    example = model.tokenizer(["an example of some length", "another"], padding=True, return_tensors="pt")
    any_size = dict.fromkeys((0, 1), torch.export.Dim.DYNAMIC)
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it complains of what it does not find and does not need
    with replacing(target) as partial:
        torch.onnx.export(
            Graph().eval(),
            (example["input_ids"], example["attention_mask"]),
            partial,
            input_names=["input_ids", "attention_mask"],
            output_names=["vector"],
            dynamic_shapes={"input_ids": any_size, "attention_mask": any_size},
            external_data=False,
            dynamo=True,
            verbose=False,
        )
    write_file(_seal(target), content_sha256(target) + "\n", "the hash of the exported model")
    return target


def is_sound(exported: Path) -> bool:
    """Return whether an exported model is there as it was written."""
    seal = _seal(exported)
    written = seal.read_text(encoding="ascii", errors="replace").strip() if seal.is_file() else ""
    return exported.is_file() and written == content_sha256(exported)


def _seal(exported: Path) -> Path:
    return exported.with_suffix(".sha256")


def not_installed(what: str) -> UnavailableError:
    """Return the error that names a missing part of the extra."""
    return UnavailableError(f"{what} is not installed", remedy="pip install 'recallmeter[onnx]'")
