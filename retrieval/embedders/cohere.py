"""Cohere's embedding interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .embedding import Kind
from .http import HTTPEncoder, joined
from .keys import Key


class CohereEncoder(HTTPEncoder):
    """A model of Cohere, which embeds queries and documents differently."""

    name = "cohere"
    key = Key(("COHERE_API_KEY",))
    default_model = "embed-v4.0"
    default_url = "https://api.cohere.com/v2"
    largest_batch = 96

    def _url(self) -> str:
        return joined(self.base_url, "embed")

    def _body(self, texts: Sequence[str], kind: Kind) -> dict[str, Any]:
        asked = {"output_dimension": self.dimensions} if self.dimensions else {}
        return {"model": self.model_name, "texts": list(texts), "input_type": f"search_{kind}", "embedding_types": ["float"]} | asked

    def _vectors(self, answer: Any) -> list[list[float]]:
        return answer["embeddings"]["float"]
