"""Encoders behind a provider's HTTP interface: what they have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from ...datasets.errors import InputError
from ...datasets.unicode import encodable
from ..unavailable import UnavailableError
from .embedding import Kind, Vectors
from .keys import Key
from .transport import Transport


class HTTPEncoder(ABC):
    """A provider's embedding model.

    A provider says where its interface is, what a request looks like and where in the answer the vectors are; this class
    sends the texts in batches and lets no vector in that is missing, not finite, or of another dimension than the rest.

    Args:
        model: the provider's name of the model; None takes `default_model`.
        dimensions: how many to ask of the provider; None takes what it gives, and every later vector must have as many.
        base_url: where the interface is; None takes `default_url`.
        batch_size: texts a request; None takes `largest_batch`.
        transport: time-out and retries.
        version: what the user calls the state that the model is in; without one its vectors are kept by no cache.

    Raises:
        InputError: a number out of range, or a base URL that is not HTTP or carries credentials.
    """

    shaped_by_model: ClassVar = True
    remote: ClassVar = True
    name: ClassVar[str]
    key: Key
    default_model: ClassVar[str]
    default_url: ClassVar[str]
    largest_batch: ClassVar[int]

    def __init__(
        self,
        model: str | None = None,
        dimensions: int | None = None,
        base_url: str | None = None,
        batch_size: int | None = None,
        transport: Transport | None = None,
        version: str | float | None = None,
    ) -> None:
        self.version = version
        self.model_name = model or self.default_model
        self.dimensions, self.transport = dimensions, transport or Transport()
        self.batch_size = batch_size or self.largest_batch
        if not 1 <= self.batch_size <= self.largest_batch:
            raise InputError(f"batch_size {batch_size} is not in 1–{self.largest_batch}", where="embedder.encoder.batch_size")
        if dimensions is not None and dimensions < 1:
            raise InputError(f"dimensions {dimensions} is below 1", where="embedder.encoder.dimensions")
        self.base_url = _checked_url(base_url or self.default_url)
        self.model = self._identity()
        self._width = dimensions

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return one row a text, shape (n, d), as the provider gives them.

        Raises:
            UnavailableError: no key, no answer, or an answer that is not one finite vector of the same dimension for each text.
        """
        if self.needs_key and not self.key.present:
            raise UnavailableError(f"{self.name}: no key", remedy=f"set ${self.key.variables[0]}")
        batches = [texts[start : start + self.batch_size] for start in range(0, len(texts), self.batch_size)]
        vectors = [self._encode_batch(batch, kind) for batch in batches]
        return np.concatenate(vectors) if vectors else np.empty((0, self._width or 0), np.float32)

    @property
    def needs_key(self) -> bool:
        """Whether a request without a key is not worth making; a server of one's own may take any."""
        return self.base_url == self.default_url

    def _encode_batch(self, texts: Sequence[str], kind: Kind) -> Vectors:
        clean = [encodable(text) or " " for text in texts]  # providers refuse an empty text
        answer = self.transport.post(self._url(), self.key, self._body(clean, kind), self.name)
        try:
            rows = self._vectors(answer)
            vectors = np.array(rows, dtype=np.float32)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise UnavailableError(f"{self.name}: the answer holds no vectors in the expected place") from None
        self._check(vectors, len(texts))
        return vectors

    def _check(self, vectors: Vectors, count: int) -> None:
        if vectors.ndim != 2 or len(vectors) != count:
            raise UnavailableError(f"{self.name}: {count} texts gave {len(vectors)} vectors")
        if not np.isfinite(vectors).all():
            raise UnavailableError(f"{self.name}: a vector holds NaN or infinity")
        width = vectors.shape[1]
        if width == 0 or self._width not in (None, width):
            raise UnavailableError(
                f"{self.name}: a vector of {width} dimensions where {self._width or 'some'} are expected",
                remedy="a wrong dimension would silently hide memories; see embedder.encoder.model and dimensions",
            )
        self._width = width

    def _identity(self) -> str:
        """Name provider, model, dimensions asked for and, unless it is the usual one, the server: all that shapes a vector."""
        asked = f"/{self.dimensions}" if self.dimensions else ""
        url = urlsplit(self.base_url)
        server = "" if self.base_url == self.default_url else f" ({url.netloc}{url.path})"
        state = "" if self.version is None else f" {self.version}"
        return f"{self.name}/{self.model_name}{asked}{server}{state}"

    @abstractmethod
    def _url(self) -> str:
        """Return where requests go."""

    @abstractmethod
    def _body(self, texts: Sequence[str], kind: Kind) -> dict[str, Any]:
        """Return what a request for these texts says."""

    @abstractmethod
    def _vectors(self, answer: Any) -> list[list[float]]:
        """Return the vectors in the order of the texts; whatever goes wrong here means that the answer is not the provider's."""


def joined(base_url: str, path: str) -> str:
    """Return `base_url` with `path` after its own path and before its query."""
    url = urlsplit(base_url)
    return urlunsplit(url._replace(path=f"{url.path.rstrip('/')}/{path}"))


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InputError("the base URL must begin with http:// or https://", where="embedder.encoder.base_url")
    if parts.username or parts.password:
        raise InputError(
            "credentials in the base URL would be written into every run",
            where="embedder.encoder.base_url",
            remedy="put the key into the environment",
        )
    return url.rstrip("/")
