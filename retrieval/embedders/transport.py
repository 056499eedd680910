"""One JSON request to a provider, tried again when trying again can help."""

from __future__ import annotations

import json
import math
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...datasets.errors import InputError
from ..unavailable import UnavailableError
from .keys import Key

if TYPE_CHECKING:
    import httpx

_EXCERPT = 160


@dataclass(frozen=True)
class Transport:
    """How requests are made.

    A 429, a 5xx, a time-out and a broken connection are tried again; any other answer is final. The wait doubles from try
    to try and is scattered by half of itself, so that many clients do not come back at once; a ``Retry-After`` is obeyed.

    Args:
        timeout: seconds to wait for a connection, and for each part of the answer.
        retries: tries after the first.
        backoff: seconds before the second try.
        patience: the longest ``Retry-After`` worth waiting for, in seconds; a longer one ends the request.

    Raises:
        InputError: a number out of range.
    """

    timeout: float = 30.0
    retries: int = 2
    backoff: float = 0.5
    patience: float = 60.0

    def __post_init__(self) -> None:
        if not (self.timeout > 0 and self.retries >= 0 and self.backoff >= 0 and self.patience >= 0):
            raise InputError("the timeout must be positive; retries, backoff and patience at least 0", where="embedder.encoder.transport")

    def post(self, url: str, key: Key, body: dict[str, Any], who: str) -> Any:
        """Return the JSON that a provider answers.

        Args:
            url: where to; no part of any error, for it may hold credentials.
            key: puts the provider's key into the request.
            body: what to send.
            who: the provider, as errors call it.

        Raises:
            UnavailableError: no answer, a refusal, or an answer that is not JSON.
        """
        failure = ""
        for attempt in range(self.retries + 1):
            answer = self._try(url, key, body)
            if isinstance(answer, str):
                failure, wait = answer, None
            elif answer.status_code == 429 or answer.status_code >= 500:
                failure, wait = f"HTTP {answer.status_code}", _retry_after(answer.headers.get("Retry-After"))
            else:
                return _content(answer, key, who)
            if wait is not None and wait > self.patience:
                raise UnavailableError(f"{who}: {failure}, to be tried again in {wait:.0f} s, which is too long to wait")
            if attempt < self.retries:
                time.sleep(self.backoff * 2**attempt * random.uniform(0.5, 1.5) if wait is None else wait)
        raise UnavailableError(f"{who}: {failure} at the last of {self.retries + 1} tries")

    def _try(self, url: str, key: Key, body: dict[str, Any]) -> httpx.Response | str:
        """Return the answer, or in a word why there is none: the client's own messages may quote the URL."""
        import httpx

        try:
            return self._client.post(url, json=body, auth=key)
        except httpx.TimeoutException:
            return f"no answer within {self.timeout:g} s"
        except httpx.HTTPError as error:
            return f"no connection ({type(error).__name__})"
        except httpx.InvalidURL:
            raise InputError("the provider's base URL is not one", where="embedder.encoder.base_url") from None

    @cached_property
    def _client(self) -> httpx.Client:
        try:
            import httpx
        except ImportError:
            raise UnavailableError("httpx is not installed", remedy="pip install 'recallmeter[http]'") from None
        return httpx.Client(timeout=self.timeout)


def _content(answer: httpx.Response, key: Key, who: str) -> Any:
    if answer.status_code in (401, 403):  # what the provider says to it may quote a part of the key
        where = " or ".join(f"${name}" for name in key.variables)
        raise UnavailableError(
            f"{who}: HTTP {answer.status_code}, the key in {where} is refused" if key.present else f"{who}: no key in {where}"
        )
    if answer.status_code != 200:
        told = " ".join(key.redacted(answer.text).split())[:_EXCERPT]
        raise UnavailableError(f"{who}: HTTP {answer.status_code}: {told}")
    try:
        return json.loads(answer.content)
    except ValueError:
        raise UnavailableError(f"{who}: the answer is not JSON, or was cut short") from None


def _retry_after(header: str | None) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for, as a number or a date; None when it says nothing sensible."""
    if header is None:
        return None
    try:
        seconds = float(header)
        return None if math.isnan(seconds) else max(0.0, seconds)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
