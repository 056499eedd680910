"""A digest that a stored record carries of itself, so that no flipped bit and no edit is taken for a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

DIGEST = "digest"


def sealed(record: Mapping[str, Any], *contents: bytes) -> dict[str, Any]:
    """Return a record of JSON values with the digest of it and of the contents of files that belong to it."""
    return {**record, DIGEST: _digest(record, contents)}


def is_sealed(record: Mapping[str, Any], *contents: bytes) -> bool:
    """Return whether a record and the contents that belong to it are what was sealed."""
    return record.get(DIGEST) == _digest({name: value for name, value in record.items() if name != DIGEST}, contents)


def _digest(record: Mapping[str, Any], contents: tuple[bytes, ...]) -> str:
    digest = hashlib.sha256(json.dumps(record, sort_keys=True, ensure_ascii=True).encode())
    for content in contents:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()
