"""Vectors in a file of their own: the float32 bytes as they are, and a header that says whose they are.

The file is one line of JSON, then count × dimensions little-endian float32 values, row by row. The header holds the
format's version, the model, the dimensions, the ids by row, and the SHA-256 of the bytes that follow.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...datasets.errors import InputError
from ..embedders.embedding import Vectors
from .exact import checked_matrix

FORMAT = "recallmeter-vectors-1"
_VALUE = np.dtype("<f4")


@dataclass(frozen=True)
class StoredVectors:
    """Vectors of shape (n, d), the ids of their rows, and the model that made them."""

    model: str
    ids: tuple[str, ...]
    vectors: Vectors


def save_vectors(path: str | Path, model: str, ids: Sequence[str], vectors: Vectors) -> None:
    """Write vectors of shape (n, d) with the ids of their rows; what was there stays until the new file is whole.

    Raises:
        InputError: not one id a row, or a value that is NaN or infinite.
    """
    path, matrix = Path(path), checked_matrix(vectors)
    if len(ids) != len(matrix):
        raise InputError(f"{len(ids)} ids for {len(matrix)} vectors", where=str(path))
    data = matrix.astype(_VALUE).tobytes()
    header = {
        "format": FORMAT,
        "model": model,
        "dimensions": matrix.shape[1],
        "count": len(matrix),
        "sha256": hashlib.sha256(data).hexdigest(),
        "ids": list(ids),
    }
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(json.dumps(header).encode("ascii") + b"\n" + data)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def load_vectors(path: str | Path, model: str | None = None) -> StoredVectors:
    """Read what `save_vectors` wrote, bit for bit.

    Args:
        path: the file.
        model: the model that the vectors must come from; None takes any.

    Raises:
        InputError: no such file, no such format, another model, a file that was cut short or changed.
    """
    path = Path(path)
    try:
        line, _, data = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise InputError(f"the vectors can't be read ({error.strerror})", where=str(path)) from None
    header = _header(line, path)
    count, dimensions = header["count"], header["dimensions"]
    expected = count * dimensions * _VALUE.itemsize
    remedy = "delete it and embed again"
    if len(data) != expected:
        raise InputError(f"{len(data)} bytes of vectors where {expected} belong", where=str(path), remedy=remedy)
    if hashlib.sha256(data).hexdigest() != header["sha256"]:
        raise InputError("the vectors are not those that were written: their SHA-256 differs", where=str(path), remedy=remedy)
    if model is not None and header["model"] != model:
        raise InputError(f"vectors of {header['model']!r}, not of {model!r}", where=str(path), remedy="embed again with this model")
    vectors = np.frombuffer(data, _VALUE).reshape(count, dimensions).astype(np.float32)
    return StoredVectors(header["model"], tuple(header["ids"]), vectors)


def _header(line: bytes, path: Path) -> dict:
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"no file of the format {FORMAT}", where=str(path))
    shape = header.get("count"), header.get("dimensions")
    whole = all(isinstance(number, int) and number >= 0 for number in shape)
    if not (
        whole and isinstance(header.get("ids"), list) and len(header["ids"]) == header["count"] and {"model", "sha256"} <= header.keys()
    ):
        raise InputError("its header lacks the count, the dimensions, the model, the checksum or an id for each vector", where=str(path))
    return header
