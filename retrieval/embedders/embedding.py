"""Text to vectors: what an encoder is, and the embedder that normalises, guards and caches what it gives."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ...datasets.errors import InputError
from ...datasets.unicode import hashable
from ..cache import Cache
from ..identity import identity_of
from ..timing import clock

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

    def embed_query(self, text: str) -> Vectors:
        """Return the L2-normalised vector of a query, shape (d,)."""
        ...


_took: dict[bytes, tuple[float, int]] = {}
"""What computing the vector of a text took in this process (milliseconds), and the last system that was charged for it."""


def normalised(vectors: NDArray[np.floating]) -> Vectors:
    """Divide each row of shape (n, d) by its L2 norm; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros(vectors.shape), where=norms > 0).astype(np.float32)


class CachedEmbedder:
    """An encoder whose vectors are normalised, checked, and kept on disk by model and text.

    What the vectors of a model are kept by is all that shapes them (`identity_of`). A provider whose state nobody named is asked afresh
    by every process.

    Where the clock asks for live work, a query is embedded anew, whatever the cache holds. A document that another system of this
    process had embedded is charged again; one from an earlier run has no time.

    Args:
        encoder: where vectors come from.
        dimensions: keep this many leading dimensions and normalise again; None keeps all.
        cache: folder of the cache; None stands for ``$RECALLMETER_CACHE``, else the user's cache folder.
        scripts: the scripts that the model was made for, such as ``LATIN``; None stands for all of them.
        fresh: compute everything once in this process, so that everything has a time; what the cache holds stays as it is.

    Raises:
        InputError: the encoder gives NaN, the wrong number of rows, or a dimension that changes from call to call.
    """

    def __init__(
        self,
        encoder: Encoder,
        dimensions: int | None = None,
        cache: str | None = None,
        scripts: Sequence[str] | None = None,
        fresh: bool = False,
    ) -> None:
        if dimensions is not None and dimensions < 1:
            raise InputError(f"dimensions {dimensions} is below 1", where="embedder.dimensions")
        self.encoder, self.dimensions, self.scripts, self.fresh = encoder, dimensions, scripts, fresh
        self.model = encoder.model
        self.width: int | None = None
        self.computed = self.reused = self.documents = 0
        self.document_ms: float | None = 0.0
        self._warm = False
        found = identity_of(encoder)
        self._identity = found.key
        self._cache = Cache.of_this_process() if found.unknown else Cache("embeddings", Path(cache) if cache else None)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of documents, shape (n, d).

        `document_ms` grows by the time that computing them took in this process; it is None once a time is not known.
        """
        keys = [self._key(text, "document") for text in texts]
        vectors = self._lookup(keys, texts, "document")
        self.documents += len(keys)
        if self.document_ms is not None:
            self.document_ms = sum(_took[key][0] for key in keys) + self.document_ms if _took.keys() >= set(keys) else None
        return self._finished(vectors)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of one query, shape (d,)."""
        if clock.is_live():
            self._warm_up("query")
            return self._finished(self._encoded([text], "query"))[0]
        return self._finished(self._lookup([self._key(text, "query")], [text], "query"))[0]

    def statistics(self) -> dict[str, object]:
        """Return what was embedded so far and the milliseconds that the documents take, JSON-ready; None where they are not known."""
        return {
            "model": self.model,
            "dimensions": self.dimensions or self.width,
            "batch_size": self.encoder.batch_size,
            "documents": self.documents,
            "document_ms": self.document_ms,
            "computed": self.computed,
            "reused": self.reused,
        }

    def _lookup(self, keys: Sequence[bytes], texts: Sequence[str], kind: Kind) -> list[Vectors]:
        with clock.uncharged():
            found = self._cache.read(keys)
            known = _took if self.fresh else found
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known or key not in found}
            self.computed += len(missing)
            self.reused += len(keys) - len(missing)
        if missing:
            self._compute(missing, kind)
            with clock.uncharged():
                found = self._cache.read(keys)  # another process may have been first
        for key in dict.fromkeys(key for key in keys if key not in missing):
            _charge(key, kind)
        return [np.frombuffer(found[key], np.dtype("<f4")).astype(np.float32) for key in keys]

    def _key(self, text: str, kind: Kind) -> bytes:
        return hashlib.sha256(hashable("\0".join(("vector", self._identity, kind, text)))).digest()

    def _compute(self, missing: dict[bytes, str], kind: Kind) -> None:
        self._warm_up(kind)
        keys, size = list(missing), max(1, self.encoder.batch_size)
        with tqdm(total=len(keys), desc="embedding", unit="text", disable=None if len(keys) > size else True, leave=False) as bar:
            for start in range(0, len(keys), size):
                batch = keys[start : start + size]
                with clock.stopwatch() as watch:
                    vectors = self._encoded([missing[key] for key in batch], kind)
                with clock.uncharged():
                    _took.update(dict.fromkeys(batch, ((watch.ms or 0.0) / len(batch), clock.system())))
                    packed = {key: vector.astype("<f4").tobytes() for key, vector in zip(batch, vectors, strict=True)}
                    self._cache.write(packed, self.model)
                    bar.update(len(batch))

    def _warm_up(self, kind: Kind) -> None:
        """Have the model loaded, which is no part of any text's time."""
        if not self._warm:
            with clock.uncharged():
                self.encoder.encode(["warm-up"], kind)
            self._warm = True

    def _encoded(self, texts: Sequence[str], kind: Kind) -> Vectors:
        vectors = self.encoder.encode(texts, kind)
        self._check(vectors, len(texts))
        return normalised(vectors)

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

    def _finished(self, vectors: Sequence[Vectors] | Vectors) -> Vectors:
        if not len(vectors):
            return np.empty((0, self.dimensions or self.width or 0), np.float32)
        for vector in vectors:
            self._guard(len(vector))
        matrix = np.array(vectors)
        if self.dimensions is None or self.dimensions == matrix.shape[1]:
            return matrix
        if self.dimensions > matrix.shape[1]:
            raise InputError(f"{self.dimensions} dimensions wanted, the model has {matrix.shape[1]}", where="embedder.dimensions")
        return normalised(matrix[:, : self.dimensions])


def _charge(key: bytes, kind: Kind) -> None:
    """Count a text that was not embedded just now; a document once a system, a query each time."""
    milliseconds, charged = _took.get(key, (None, None))
    if kind == "query" or charged != clock.system():
        clock.charge(milliseconds)
        if milliseconds is not None:
            _took[key] = milliseconds, clock.system()
