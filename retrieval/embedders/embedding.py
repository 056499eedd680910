"""Text to vectors: what an encoder is, and the embedder that normalises, guards and caches what it gives."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ...datasets.errors import InputError
from ...datasets.unicode import hashable
from ..cache import Cache
from ..identity import identity_of

Kind = Literal["document", "query"]
Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """A model that turns texts into vectors: local weights, or a provider behind HTTP.

    Attributes:
        model: identity of the model, including the SHA-256 of its weights where there are any; part of every cache key.
        batch_size: texts a call of `encode` should get at most.
    """

    model: str
    batch_size: int

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return one row a text, shape (n, d); need not be normalised."""
        ...


class Embedder(Protocol):
    """What a vector arm needs of an embedder."""

    model: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the L2-normalised vectors of documents, shape (n, d)."""
        ...

    def embed_query(self, text: str) -> tuple[Vectors, float]:
        """Return the L2-normalised vector of a query, shape (d,), and the milliseconds its computation took."""
        ...


def normalised(vectors: NDArray[np.floating]) -> Vectors:
    """Divide each row of shape (n, d) by its L2 norm; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros(vectors.shape), where=norms > 0).astype(np.float32)


class CachedEmbedder:
    """An encoder whose vectors are normalised, checked, and kept on disk by model and text.

    What the vectors of a model are kept by is all that shapes them (`identity_of`). A provider whose state nobody named is asked afresh
    by every process.

    A query's vector comes with the time that its computation took, also when it comes from the cache, so that a second
    run measures the same memory system and not the cache.

    Args:
        encoder: where vectors come from.
        dimensions: keep this many leading dimensions and normalise again; None keeps all.
        cache: folder of the cache; None stands for ``$RECALLMETER_CACHE``, else the user's cache folder.
        scripts: the scripts that the model was made for, such as ``LATIN``; None stands for all of them.

    Raises:
        InputError: the encoder gives NaN, the wrong number of rows, or a dimension that changes from call to call.
    """

    def __init__(
        self, encoder: Encoder, dimensions: int | None = None, cache: str | None = None, scripts: Sequence[str] | None = None
    ) -> None:
        if dimensions is not None and dimensions < 1:
            raise InputError(f"dimensions {dimensions} is below 1", where="embedder.dimensions")
        self.encoder, self.dimensions, self.scripts = encoder, dimensions, scripts
        self.model = encoder.model
        self.width: int | None = None
        self.computed = self.reused = self.documents = 0
        self.document_ms = 0.0
        self._warm = False
        found = identity_of(encoder)
        self._identity = found.key
        self._cache = Cache.of_this_process() if found.unknown else Cache("embeddings", Path(cache) if cache else None)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of documents, shape (n, d); `document_ms` grows by the time their computation took."""
        entries = self._lookup(texts, "document")
        self.documents += len(entries)
        self.document_ms += sum(entry.milliseconds for entry in entries)
        return self._finished(entries)

    def embed_query(self, text: str) -> tuple[Vectors, float]:
        """Return the vector of one query, shape (d,), and the milliseconds that computing it alone took."""
        entries = self._lookup([text], "query")
        return self._finished(entries)[0], entries[0].milliseconds

    def statistics(self) -> dict[str, object]:
        """Return what was embedded so far and the milliseconds that the documents take, JSON-ready."""
        return {
            "model": self.model,
            "dimensions": self.dimensions or self.width,
            "batch_size": self.encoder.batch_size,
            "documents": self.documents,
            "document_ms": self.document_ms,
            "computed": self.computed,
            "reused": self.reused,
        }

    def _lookup(self, texts: Sequence[str], kind: Kind) -> list[_Entry]:
        keys = [self._key(text, kind) for text in texts]
        found = self._cache.read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        self.computed += len(missing)
        self.reused += len(keys) - len(missing)
        if missing:
            self._compute(missing, kind)
            found = self._cache.read(keys)
        return [_Entry.unpacked(found[key]) for key in keys]

    def _key(self, text: str, kind: Kind) -> bytes:
        return hashlib.sha256(hashable("\0".join((self._identity, kind, text)))).digest()

    def _compute(self, missing: dict[bytes, str], kind: Kind) -> None:
        if not self._warm:  # loading the model is no part of any text's time
            self.encoder.encode(["warm-up"], kind)
            self._warm = True
        keys, size = list(missing), max(1, self.encoder.batch_size)
        with tqdm(total=len(keys), desc="embedding", unit="text", disable=None if len(keys) > size else True, leave=False) as bar:
            for start in range(0, len(keys), size):
                batch = keys[start : start + size]
                began = perf_counter()
                vectors = self.encoder.encode([missing[key] for key in batch], kind)
                each = (perf_counter() - began) * 1e3 / len(batch)
                self._check(vectors, len(batch))
                packed = {key: _Entry(vector, each).packed() for key, vector in zip(batch, normalised(vectors), strict=True)}
                self._cache.write(packed, self.model)
                bar.update(len(batch))

    def _check(self, vectors: NDArray[np.floating], rows: int) -> None:
        where = f"embedder {self.encoder.model}"
        if vectors.ndim != 2 or len(vectors) != rows:
            raise InputError(f"{rows} texts gave an array of shape {vectors.shape}", where=where, remedy="see what the provider answers")
        if not np.isfinite(vectors).all():
            raise InputError("a vector holds NaN or infinity", where=where, remedy="see which text it is and what the model makes of it")
        self._guard(vectors.shape[1])

    def _guard(self, width: int) -> None:
        if self.width not in (None, width):
            raise InputError(
                f"a vector of {width} dimensions where {self.width} are stored",
                where=f"embedder {self.encoder.model}",
                remedy="a wrong dimension would silently hide memories; embed everything with one model",
            )
        self.width = width

    def _finished(self, entries: Sequence[_Entry]) -> Vectors:
        if not entries:
            return np.empty((0, self.dimensions or self.width or 0), np.float32)
        for entry in entries:
            self._guard(len(entry.vector))
        vectors = np.stack([entry.vector for entry in entries])
        if self.dimensions is None or self.dimensions == vectors.shape[1]:
            return vectors
        if self.dimensions > vectors.shape[1]:
            raise InputError(f"{self.dimensions} dimensions wanted, the model has {vectors.shape[1]}", where="embedder.dimensions")
        return normalised(vectors[:, : self.dimensions])


class _Entry(NamedTuple):
    vector: Vectors
    milliseconds: float

    @classmethod
    def unpacked(cls, value: bytes) -> _Entry:
        return cls(np.frombuffer(value, np.dtype("<f4"), offset=8).astype(np.float32), struct.unpack_from("<d", value)[0])

    def packed(self) -> bytes:
        return struct.pack("<d", self.milliseconds) + self.vector.astype("<f4").tobytes()
