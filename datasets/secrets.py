"""Secrets that a configuration or the environment brings, kept out of every text that is shown or stored."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from json import dumps
from typing import Any, TextIO
from urllib.parse import quote, quote_plus

HIDDEN = "***"
SHORTEST, SHORTEST_PART, SHORTEST_UNASKED = 3, 6, 8
"""Characters of a secret that a setting names, of a word of one, and of a variable's value that no setting names."""

_NAME = re.compile(
    r"(?i)(?:^|[_.-])(?:api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|secret|token|password|passwd|passphrase|pwd|"
    r"credentials?|authorization|auth|bearer|cookie|dsn)$"
)
_VARIABLE = re.compile(r"(?i)(?:^|_)(?:\w*key|tok|token|\w*secret\w*|pass|\w*password|passwd|pat|auth|credentials?|dsn)(?:_|$)")
_URL_PART = re.compile(
    r"(?i)([?&;](?:[\w.-]*(?:key|token|secret|passw(?:or)?d|pwd|sig(?:nature)?|auth|credential)[\w.-]*)=)([^&#\s\"'<>\\]+)"
)
_USER = re.compile(r"([a-z][a-z0-9+.-]*://)[^/\s@\"'<>]+@")

_known: dict[str, set[str]] = {}
"""What is secret → how it may be written; `_named` are variables whose values are read when a text is redacted."""
_named: set[str] = set()
_pattern: tuple[frozenset[str], re.Pattern[str] | None] = (frozenset(), None)


def name_secret(variable: str) -> None:
    """Take the value of an environment variable for a secret, whatever it is when a text is shown."""
    _named.add(variable)


def learn_secrets(settings: Any) -> None:
    """Take for secrets what resolved settings hold or name as such.

    These are variables that a key ending in ``_env`` names, values of keys such as ``api_key``, ``password`` or ``Authorization``, and
    what stands in a URL before its host or in a query key of such a name.
    """
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if str(name).endswith("_env"):
                for variable in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else [value]:
                    if isinstance(variable, str):
                        name_secret(variable)
            elif isinstance(value, str) and _NAME.search(str(name)):
                _remember(value)
            elif name in ("env", "headers") and isinstance(value, Mapping):
                for variable, text in value.items():
                    if isinstance(text, str) and (_VARIABLE.search(str(variable)) or _NAME.search(str(variable))):
                        _remember(text)
            learn_secrets(value)
    elif isinstance(settings, list | tuple):
        for value in settings:
            learn_secrets(value)
    elif isinstance(settings, str) and "://" in settings:
        for found in _URL_PART.finditer(settings):
            _remember(found[2])


def redacted(text: str) -> str:
    """Return a text with every known secret in it replaced by ``***``, however it is written there."""
    pattern = _compiled()
    return text if pattern is None else pattern.sub(HIDDEN, text)


def redacted_message(text: str) -> str:
    """Return what a program says without known secrets, and without those that URLs in it carry; no text for data, which may hold URLs."""
    text = redacted(text)
    if "://" in text:
        text = _USER.sub(rf"\1{HIDDEN}@", text)
    return _URL_PART.sub(rf"\1{HIDDEN}", text) if "=" in text else text


def redacted_settings(value: Any) -> Any:
    """Return settings with every text in them redacted, so that what is made of them can still be read."""
    if isinstance(value, Mapping):
        return {name: redacted_settings(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redacted_settings(inner) for inner in value]
    return redacted_message(value) if isinstance(value, str) else value


class Guarded:
    """A stream that shows no secret; everything else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text without secrets; return how long it was."""
        self._stream.write(redacted_message(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write each line without secrets."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _remember(value: str) -> None:
    for part in {value, value.strip(), *value.split()}:  # such as `Bearer …`: a server may quote the second word alone
        if len(part) >= (SHORTEST if part == value.strip() else SHORTEST_PART) and part.lower() not in ("true", "false", "null", "bearer"):
            _known.setdefault(part, _writings(part))


def _compiled() -> re.Pattern[str] | None:
    global _pattern
    values = {value for variable in _named if (value := os.environ.get(variable, "").strip())}
    for name, value in os.environ.items():
        if len(value.strip()) >= SHORTEST_UNASKED and not value.isalpha() and _VARIABLE.search(name):
            values.add(value.strip())
    current = frozenset(values | _known.keys())
    if _pattern[0] != current:
        for value in values:
            _remember(value)
        writings = {writing for value in current if value in _known for writing in _known[value]}
        writings |= {writing for value in values for word in value.split() if word in _known for writing in _known[word]}
        longest_first = sorted(writings, key=lambda writing: (-len(writing), writing))
        _pattern = current, re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
    return _pattern[1]


def _writings(value: str) -> set[str]:
    """Return the ways in which a value may stand in a text: as it is, in JSON, Python, HTML or a URL, or in base 64."""
    data = value.encode("utf-8", "surrogatepass")
    found = {value, dumps(value)[1:-1], dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1], escape(value)}
    found |= {quote(data), quote(data, safe=""), quote_plus(data)}
    if len(data) >= SHORTEST_PART:
        found.add(b64encode(data).decode().rstrip("="))
    return found
