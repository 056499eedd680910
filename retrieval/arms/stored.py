"""Candidates that are kept: an arm that was asked a question before is not asked again.

Systems that differ only in fusion or stages share what their arms find. An answer from an earlier run has no time. Where the clock
asks for live work the arm is asked again, once a process: systems that share it are charged what it took then.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...datasets.secrets import redacted_message
from ...datasets.unicode import hashable
from ..cache import Cache
from ..corpus import Arm, ArmIndex, Candidates, Corpus, Question
from ..timing import clock
from ..trace import Trace
from .fallback import NOTE

ANSWERS, INDEXES = 50_000, 16
"""How many answers and indexes stay in memory, about 100 MB of answers; an answer that had to go is read from disk again."""

_ROOT = "arm"


@dataclass
class CandidateStore:
    """What arms found, in memory and on disk; `searches` counts the questions that an arm had to answer itself.

    Indexes stay in memory too, so that a process builds each arm once for a data set.
    """

    cache: Cache
    searches: int = 0
    _memory: dict[bytes, tuple[Candidates, Trace]] = field(default_factory=dict)
    _new: dict[str, dict[bytes, bytes]] = field(default_factory=dict)
    _indexes: dict[tuple[str, str], ArmIndex] = field(default_factory=dict)
    _timed: dict[bytes, tuple[Candidates, Trace]] = field(default_factory=dict)

    def arm(self, identity: str, arm: Arm, maker: str | None = "") -> StoredArm:
        """Return an arm that answers from the store where it can, and else as `arm` does.

        Args:
            identity: everything that its candidates depend on: its settings, those of the arms before it, the data set, the code.
            maker: how the cache lists its answers; None keeps them from other processes, since not all that they depend on is known.
        """
        return StoredArm(self, identity, arm, maker)

    def flush(self) -> None:
        """Write to disk what was found since the last flush."""
        for maker, values in self._new.items():
            self.cache.write(values, maker)
        self._new = {}

    def get(self, key: bytes) -> tuple[Candidates, Trace] | None:
        """Return an answer from memory, else from disk."""
        if key not in self._memory:
            packed = next((values[key] for values in self._new.values() if key in values), None) or self.cache.read([key]).get(key)
            if packed is None:
                return None
            _keep(self._memory, key, _unpacked(packed), ANSWERS)
        return self._memory[key]

    def timed(self, key: bytes, ask: Callable[[], tuple[Candidates, Trace]]) -> tuple[Candidates, Trace]:
        """Return an answer that was asked for live in this process; `ask` gives it the first time."""
        if key not in self._timed:
            _keep(self._timed, key, ask(), ANSWERS)
        return self._timed[key]

    def put(self, key: bytes, candidates: Candidates, trace: Trace, maker: str | None) -> None:
        """Keep an answer; with a maker, under which the cache lists it, it is on disk after the next flush."""
        if maker is not None:
            self._new.setdefault(maker, {})[key] = _packed(candidates, trace)
        _keep(self._memory, key, (candidates, trace), ANSWERS)

    def index(self, identity: str, corpus: Corpus, arm: Arm) -> ArmIndex:
        """Return `arm` over one scope, built when it is first needed."""
        key = (identity, _scope(corpus))
        if key not in self._indexes:
            _keep(self._indexes, key, arm.build(corpus), INDEXES)
        return self._indexes[key]


@dataclass(frozen=True)
class StoredArm:
    """An arm in front of a store."""

    store: CandidateStore
    identity: str
    arm: Arm
    maker: str | None = ""

    def build(self, corpus: Corpus) -> _StoredIndex:
        """Index nothing yet: the answers may all be there."""
        return _StoredIndex(self, corpus)


@dataclass(frozen=True)
class _StoredIndex:
    stored: StoredArm
    corpus: Corpus

    def search(self, question: Question, limit: int) -> Candidates:
        with clock.uncharged():
            key = self._key(question, limit)
            candidates, trace = self._timed(key, question, limit) if clock.is_live() else self._kept(key, question, limit)
        question.trace.graft(trace, _ROOT)
        return candidates

    def _kept(self, key: bytes, question: Question, limit: int) -> tuple[Candidates, Trace]:
        answer = self.stored.store.get(key)
        if answer is None:
            self.stored.store.searches += 1
            answer = self._ask(question, limit)
            if not any(note.startswith(NOTE) for note in answer[1].notes):  # an outage is over by the next time
                self.stored.store.put(key, *answer, self.stored.maker)
        return answer

    def _timed(self, key: bytes, question: Question, limit: int) -> tuple[Candidates, Trace]:
        return self.stored.store.timed(key, lambda: self._ask(question, limit))

    def _ask(self, question: Question, limit: int) -> tuple[Candidates, Trace]:
        index, trace = self.stored.store.index(self.stored.identity, self.corpus, self.stored.arm), Trace()
        with trace.span(_ROOT):
            candidates = index.search(replace(question, trace=trace), limit)
        return candidates, trace

    def _key(self, question: Question, limit: int) -> bytes:
        asked_at = question.asked_at.isoformat() if question.asked_at else ""
        parts = (self.stored.identity, _scope(self.corpus), question.text, asked_at, str(limit))
        return hashlib.sha256(hashable("\0".join(parts))).digest()


def _keep(kept: dict[Any, Any], key: Any, value: Any, limit: int) -> None:
    """Add to `kept`; what was added first goes when there is no room."""
    if len(kept) >= limit:
        del kept[next(iter(kept))]
    kept[key] = value


def _scope(corpus: Corpus) -> str:
    return corpus.observations[0].scope if len(corpus) else ""


def _packed(candidates: Candidates, trace: Trace) -> bytes:
    every = candidates.every if candidates.every is not None else np.empty(0)
    notes = [redacted_message(note) for note in trace.notes]
    head = {"n": len(candidates), "every": len(every), "trust": candidates.trust, "notes": notes}
    numbers = candidates.rows.astype("<i8").tobytes() + candidates.scores.astype("<f8").tobytes() + every.astype("<f8").tobytes()
    return json.dumps(head).encode() + b"\n" + numbers


def _unpacked(packed: bytes) -> tuple[Candidates, Trace]:
    begin = packed.index(b"\n") + 1
    head = json.loads(packed[:begin])
    n = head["n"]
    rows = np.frombuffer(packed, "<i8", n, begin)
    scores = np.frombuffer(packed, "<f8", n, begin + 8 * n)
    every = np.frombuffer(packed, "<f8", head["every"], begin + 16 * n) if head["every"] else None
    return Candidates(rows, scores, every, head["trust"]), Trace(notes=head["notes"])
