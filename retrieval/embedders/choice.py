"""Which embedder, when the configuration leaves it to the environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NoReturn

from ...datasets.errors import InputError
from ..unavailable import UnavailableError
from .cohere import CohereEncoder
from .embedding import CachedEmbedder
from .gemini import GeminiEncoder
from .local import SentenceTransformerEncoder
from .openai import OpenAIEncoder
from .openrouter import OpenRouterEncoder
from .voyage import VoyageEncoder

VARIABLE = "EMBEDDING_PROVIDER"

PROVIDERS = {encoder.name: encoder for encoder in (GeminiEncoder, OpenAIEncoder, VoyageEncoder, CohereEncoder, OpenRouterEncoder)}
"""The providers behind HTTP, in the order in which their keys are looked for."""


class NoEmbedder:
    """What stands where no provider was chosen: it embeds nothing, so that a `Fallback` answers by keyword alone."""

    model = "none"

    def embed(self, texts: Sequence[str]) -> NoReturn:
        """Raise `UnavailableError`."""
        del texts
        keys = ", ".join(f"${encoder.key.variables[0]}" for encoder in PROVIDERS.values())
        raise UnavailableError("no embedding provider is chosen", remedy=f"set ${VARIABLE}, or one of {keys}")

    def embed_query(self, text: str) -> NoReturn:
        """Raise `UnavailableError`."""
        self.embed([text])


class FromEnvironment:
    """Makes the embedder that ``EMBEDDING_PROVIDER`` names, else that of the first provider whose key is set, else none."""

    shaped_by_model = True

    @property
    def remote(self) -> bool:
        """Whether the environment chooses a provider that is not on this machine."""
        return provider_name() in PROVIDERS

    def __call__(self, cache: str | None = None, version: str | float | None = None, fresh: bool = False) -> CachedEmbedder | NoEmbedder:
        """Return the embedder.

        Args:
            cache, fresh: as `CachedEmbedder` takes them.
            version: of a provider's model, as `HTTPEncoder` takes it.

        Raises:
            InputError: ``EMBEDDING_PROVIDER`` names none that there is.
        """
        name = provider_name()
        if name == "none":
            return NoEmbedder()
        encoder = SentenceTransformerEncoder() if name == "local" else PROVIDERS[name](version=version)
        return CachedEmbedder(encoder, cache=cache, fresh=fresh)


embedder_from_environment = FromEnvironment()


def provider_name() -> str:
    """Return ``local``, ``none`` or a name in `PROVIDERS`, as the environment says.

    Raises:
        InputError: ``EMBEDDING_PROVIDER`` names none that there is.
    """
    wanted = os.environ.get(VARIABLE, "").strip().lower()
    if not wanted:
        return next((name for name, encoder in PROVIDERS.items() if encoder.key.present), "none")
    choices = ("local", *PROVIDERS, "none")
    if wanted not in choices:
        raise InputError(f"no embedding provider {wanted!r}", where=VARIABLE, remedy=f"there are: {', '.join(choices)}")
    return wanted
