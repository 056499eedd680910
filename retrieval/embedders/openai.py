"""OpenAI's embedding interface, and everything that speaks it: Azure, vLLM, LM Studio, Ollama."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ...datasets.errors import InputError
from .embedding import Kind
from .http import HTTPEncoder, joined
from .keys import Key
from .transport import Transport


class OpenAICompatible(HTTPEncoder):
    """OpenAI's format of requests and answers, whoever speaks it."""

    def _url(self) -> str:
        return joined(self.base_url, "embeddings")

    def _body(self, texts: Sequence[str], kind: Kind) -> dict[str, Any]:
        del kind  # the interface makes no difference
        return {"model": self.model_name, "input": list(texts)} | ({"dimensions": self.dimensions} if self.dimensions else {})

    def _vectors(self, answer: Any) -> list[list[float]]:
        return [entry["embedding"] for entry in sorted(answer["data"], key=lambda entry: entry.get("index", 0))]


class OpenAIEncoder(OpenAICompatible):
    """A model of OpenAI or of a server that speaks its interface.

    What is not given is read from ``OPENAI_BASE_URL``, ``OPENAI_EMBEDDING_MODEL`` and ``OPENAI_EMBEDDING_DIMENSIONS``. A base
    URL without a path gets ``/v1`` (Azure: ``/openai/v1``). Azure, known by its host name, takes the key in its own header.
    """

    name = "openai"
    key = Key(("OPENAI_API_KEY",))
    default_model = "text-embedding-3-small"
    default_url = "https://api.openai.com/v1"
    largest_batch = 256

    def __init__(
        self,
        model: str | None = None,
        dimensions: int | None = None,
        base_url: str | None = None,
        batch_size: int | None = None,
        transport: Transport | None = None,
        version: str | float | None = None,
    ) -> None:
        model = model or _setting("OPENAI_EMBEDDING_MODEL")
        dimensions = dimensions if dimensions is not None else _dimensions()
        base_url = base_url or _setting("OPENAI_BASE_URL")
        super().__init__(model, dimensions, base_url and _with_path(base_url), batch_size, transport, version)
        if _is_azure(self.base_url):
            self.key = Key(self.key.variables, header="api-key", scheme="")


def _setting(name: str) -> str | None:
    return os.environ.get(name, "").strip() or None


def _dimensions() -> int | None:
    value = _setting("OPENAI_EMBEDDING_DIMENSIONS")
    if value is None:
        return None
    if not value.isdecimal() or int(value) < 1:
        raise InputError(f"{value!r} is not a number of dimensions", where="OPENAI_EMBEDDING_DIMENSIONS", remedy="for example 512")
    return int(value)


def _with_path(url: str) -> str:
    parts = urlsplit(url)
    if parts.path.strip("/"):
        return url
    return joined(url, "openai/v1" if _is_azure(url) else "v1")


def _is_azure(url: str) -> bool:
    return (urlsplit(url).hostname or "").endswith(".openai.azure.com")
