"""OpenRouter: many providers' models behind OpenAI's interface."""

from __future__ import annotations

from .keys import Key
from .openai import OpenAICompatible


class OpenRouterEncoder(OpenAICompatible):
    """A model that OpenRouter passes requests on to."""

    name = "openrouter"
    key = Key(("OPENROUTER_API_KEY",))
    default_model = "openai/text-embedding-3-small"
    default_url = "https://openrouter.ai/api/v1"
    largest_batch = 256
