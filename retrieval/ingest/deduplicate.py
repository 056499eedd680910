"""De-duplication: what is said again right away is remembered once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from ...datasets.errors import InputError
from ...datasets.model import Observation
from .retriever import Intake


class Deduplicate:
    """Remove an observation whose content has the SHA-256 of one kept less than a window of time before it.

    Content is every field but the id, the session, the time and the importance.

    Args:
        window_minutes: > 0.

    Raises:
        InputError: a window that is not positive.
    """

    def __init__(self, window_minutes: float = 5.0) -> None:
        if not window_minutes > 0:
            raise InputError(f"a window of {window_minutes} minutes is not positive", where="window_minutes")
        self.window = timedelta(minutes=window_minutes)

    def apply(self, observations: Sequence[Observation]) -> Intake:
        """Return the first of each run of repeats."""
        kept_at: dict[bytes, datetime] = {}
        kept = []
        for observation in observations:
            content = _digest(observation)
            before = kept_at.get(content)
            if before is None or observation.timestamp - before >= self.window:
                kept_at[content] = observation.timestamp
                kept.append(observation)
        return Intake(tuple(kept))


def _digest(observation: Observation) -> bytes:
    o = observation
    content = json.dumps([o.type, o.title, o.subtitle, o.narrative, o.facts, o.concepts, o.files], separators=(",", ":"))
    return hashlib.sha256(content.encode("ascii")).digest()
