"""Gemini's embedding interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .embedding import Kind
from .http import HTTPEncoder, joined
from .keys import Key


class GeminiEncoder(HTTPEncoder):
    """A Gemini model, which embeds queries and documents differently; the key goes into a header, never into the URL."""

    name = "gemini"
    key = Key(("GEMINI_API_KEY",), header="x-goog-api-key", scheme="")
    default_model = "gemini-embedding-001"
    default_url = "https://generativelanguage.googleapis.com/v1beta"
    largest_batch = 100

    def _url(self) -> str:
        return joined(self.base_url, f"models/{self.model_name}:batchEmbedContents")

    def _body(self, texts: Sequence[str], kind: Kind) -> dict[str, Any]:
        settings: dict[str, Any] = {"model": f"models/{self.model_name}", "taskType": f"RETRIEVAL_{kind.upper()}"}
        if self.dimensions:
            settings["outputDimensionality"] = self.dimensions
        return {"requests": [settings | {"content": {"parts": [{"text": text}]}} for text in texts]}

    def _vectors(self, answer: Any) -> list[list[float]]:
        return [entry["values"] for entry in answer["embeddings"]]
