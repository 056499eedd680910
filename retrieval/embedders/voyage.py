"""Voyage AI's embedding interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .embedding import Kind
from .keys import Key
from .openai import OpenAICompatible


class VoyageEncoder(OpenAICompatible):
    """A model of Voyage AI, which embeds queries and documents differently; its answers look like OpenAI's."""

    name = "voyage"
    key = Key(("VOYAGE_API_KEY",))
    default_model = "voyage-3.5"
    default_url = "https://api.voyageai.com/v1"
    largest_batch = 128

    def _body(self, texts: Sequence[str], kind: Kind) -> dict[str, Any]:
        asked = {"output_dimension": self.dimensions} if self.dimensions else {}
        return {"model": self.model_name, "input": list(texts), "input_type": kind} | asked
