"""Where a provider's key is found; what holds the place never holds the key."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...datasets.secrets import name_secret

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class Key:
    """The environment variables that may hold a key, and the header that carries it.

    The key is read when a request is made and kept nowhere, so that it can reach no log, error, configuration or run.

    Args:
        variables: looked at in this order; the first that is set counts.
        header: the request header that carries the key.
        scheme: what stands before the key in it.
    """

    variables: tuple[str, ...]
    header: str = "Authorization"
    scheme: str = "Bearer "

    def __post_init__(self) -> None:
        for variable in self.variables:
            name_secret(variable)

    @property
    def present(self) -> bool:
        """Whether one of the variables is set and not blank."""
        return bool(self._value())

    def __call__(self, request: httpx.Request) -> httpx.Request:
        """Put the key into a request, as httpx lets an ``auth`` do; without one the request goes as it is."""
        if self.present:
            request.headers[self.header] = self.scheme + self._value()
        return request

    def redacted(self, text: str) -> str:
        """Return the text with the key, should it be in it, replaced by ``***``."""
        return text.replace(self._value(), "***") if self.present else text

    def _value(self) -> str:
        return next((value for name in self.variables if (value := os.environ.get(name, "").strip())), "")
