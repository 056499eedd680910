"""Candidates that are kept: an arm that was asked a question before is not asked again.

Systems that differ only in fusion or stages share what their arms find. Each answer is kept with the times that it took, so
that a system measured from stored candidates reports the latency of the real one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from .cache import Cache
from .corpus import Arm, ArmIndex, Candidates, Corpus, Question
from .trace import Trace

_ROOT = "arm"


@dataclass
class CandidateStore:
    """What arms found, in memory and on disk; `asked` counts the questions that an arm had to answer itself.

    Indexes live as long as the store, so that a process builds each arm once for a data set.
    """

    cache: Cache
    asked: int = 0
    _memory: dict[bytes, bytes] = field(default_factory=dict)
    _new: dict[bytes, bytes] = field(default_factory=dict)
    _indexes: dict[tuple[str, str], ArmIndex] = field(default_factory=dict)

    def arm(self, identity: str, make: Callable[[], Arm]) -> StoredArm:
        """Return an arm that answers from the store where it can.

        Args:
            identity: everything that its candidates depend on: its settings, those of the arms before it, the data set, the code.
            make: builds the real arm; called when the first answer is missing.
        """
        return StoredArm(self, identity, make)

    def flush(self) -> None:
        """Write to disk what was found since the last flush."""
        self.cache.write(self._new)
        self._new = {}

    def get(self, key: bytes) -> bytes | None:
        """Return an answer from memory, else from disk."""
        if key not in self._memory:
            self._memory.update(self.cache.read([key]))
        return self._memory.get(key)

    def put(self, key: bytes, answer: bytes) -> None:
        """Keep an answer; it is on disk after the next flush."""
        self._memory[key] = self._new[key] = answer

    def index(self, identity: str, corpus: Corpus, make: Callable[[], Arm]) -> ArmIndex:
        """Return the real arm over one scope, built when it is first needed."""
        key = (identity, _scope(corpus))
        if key not in self._indexes:
            self._indexes[key] = make().build(corpus)
        return self._indexes[key]


@dataclass(frozen=True)
class StoredArm:
    """An arm in front of a store."""

    store: CandidateStore
    identity: str
    make: Callable[[], Arm]

    def build(self, corpus: Corpus) -> _StoredIndex:
        """Index nothing yet: the answers may all be there."""
        return _StoredIndex(self, corpus)


@dataclass(frozen=True)
class _StoredIndex:
    arm: StoredArm
    corpus: Corpus

    def search(self, question: Question, limit: int) -> Candidates:
        began = perf_counter()
        key = self._key(question, limit)
        packed = self.arm.store.get(key)
        if packed is None:
            packed = self._ask(question, limit)
            self.arm.store.put(key, packed)
        candidates, trace = _unpacked(packed)
        question.trace.graft(trace, _ROOT, spent=(perf_counter() - began) * 1e3)
        return candidates

    def _ask(self, question: Question, limit: int) -> bytes:
        index, trace = self.arm.store.index(self.arm.identity, self.corpus, self.arm.make), Trace()
        self.arm.store.asked += 1
        with trace.span(_ROOT):
            candidates = index.search(replace(question, trace=trace), limit)
        return _packed(candidates, trace)

    def _key(self, question: Question, limit: int) -> bytes:
        asked_at = question.asked_at.isoformat() if question.asked_at else ""
        parts = (self.arm.identity, _scope(self.corpus), question.text, asked_at, str(limit))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


def _scope(corpus: Corpus) -> str:
    return corpus.observations[0].scope if len(corpus) else ""


def _packed(candidates: Candidates, trace: Trace) -> bytes:
    head = json.dumps({"n": len(candidates), "spans": trace.spans, "notes": trace.notes}).encode()
    return head + b"\n" + candidates.rows.astype("<i8").tobytes() + candidates.scores.astype("<f8").tobytes()


def _unpacked(packed: bytes) -> tuple[Candidates, Trace]:
    end = packed.index(b"\n") + 1
    head = json.loads(packed[:end])
    rows, scores = (np.frombuffer(packed, kind, head["n"], end + offset * head["n"]) for kind, offset in (("<i8", 0), ("<f8", 8)))
    return Candidates(rows, scores), Trace(spans=head["spans"], notes=head["notes"])
