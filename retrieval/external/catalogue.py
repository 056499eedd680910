"""What an external system is shown of a memory: opaque ids, one text an observation, scope by scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...datasets.model import Observation
from ...datasets.unicode import encodable


@dataclass(frozen=True, slots=True)
class Document:
    """One observation as an external system sees it; `id` and `session` say nothing about the data set."""

    id: str
    session: str
    timestamp: datetime
    importance: int
    text: str

    def as_record(self) -> dict[str, Any]:
        """Return the document as JSON-ready values, the time in ISO 8601."""
        return {
            "id": self.id,
            "session": self.session,
            "timestamp": self.timestamp.isoformat(),
            "importance": self.importance,
            "text": self.text,
        }


@dataclass(frozen=True)
class Partition:
    """One scope under its opaque name, its documents in the order of the observations' ids."""

    name: str
    documents: tuple[Document, ...]


class Catalogue:
    """The way from observations to documents and back.

    Names are opaque because real ones tell: LongMemEval marks answers in session ids and unanswerable questions in scope
    names. Numbers follow the order of the real ids, so that a system that breaks ties by id breaks them as we do.
    """

    def __init__(self, observations: Sequence[Observation], text: Callable[[Observation], str]) -> None:
        ids = _numbered("o", (o.id for o in observations))
        sessions = _numbered("t", (o.session_id for o in observations))
        scopes = _numbered("s", (o.scope for o in observations))
        self._originals = {opaque: original for original, opaque in ids.items()}
        documents: dict[str, list[Document]] = defaultdict(list)
        for o in sorted(observations, key=lambda o: o.id):
            documents[o.scope].append(Document(ids[o.id], sessions[o.session_id], o.timestamp, o.importance, encodable(text(o))))
        self.partitions: Mapping[str, Partition] = {scope: Partition(name, tuple(documents[scope])) for scope, name in scopes.items()}

    def original(self, opaque: str) -> str:
        """Return the observation's id; an id that was never given out comes back marked by '?', for the loop to name."""
        return self._originals.get(opaque, f"?{opaque}")


def _numbered(letter: str, names: Iterable[str]) -> dict[str, str]:
    ordered = sorted(set(names))
    width = max(4, len(str(len(ordered))))
    return {name: f"{letter}{number:0{width}}" for number, name in enumerate(ordered, start=1)}
