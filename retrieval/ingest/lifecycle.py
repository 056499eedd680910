"""Lifecycle: memories that are used again are consolidated, the others are forgotten in time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Literal

from ...datasets.errors import InputError
from ...datasets.model import Observation
from ..rounding import reaches
from .retriever import Intake

Tier = Literal["working", "episodic", "semantic", "procedural"]

_STABILITY: dict[Tier, float] = {"working": 1.0, "episodic": 1.0, "semantic": 4.0, "procedural": 16.0}


class Lifecycle:
    """Sort memories into tiers by how often they were used, and remove those whose retention fell below a threshold.

    The last session is working memory. Of the rest those that later sessions touched again, by one of their files, are
    semantic from `semantic_uses` such sessions on and procedural from `procedural_uses`; others are episodic. Retention is
    e^(−t / S) as of the newest observation, t counted from the last use, with S = `stability_days` × importance / 5 × 1 for
    episodic, 4 for semantic, 16 for procedural memories. Working memory is never forgotten.

    Args:
        stability_days: > 0.
        forget_below: retention in [0, 1) below which a memory is removed; 0 forgets nothing.
        semantic_uses, procedural_uses: numbers of sessions.

    Raises:
        InputError: a number out of range.
    """

    def __init__(self, stability_days: float = 30.0, forget_below: float = 0.05, semantic_uses: int = 2, procedural_uses: int = 5) -> None:
        if not stability_days > 0:
            raise InputError(f"a stability of {stability_days} days is not positive", where="stability_days")
        if not 0 <= forget_below < 1:
            raise InputError(f"forget_below {forget_below} is not in [0, 1)", where="forget_below")
        if not 1 <= semantic_uses <= procedural_uses:
            raise InputError(f"{semantic_uses} and {procedural_uses} uses are not in order", where="semantic_uses")
        self.stability_days, self.forget_below = stability_days, forget_below
        self.semantic_uses, self.procedural_uses = semantic_uses, procedural_uses

    def apply(self, observations: Sequence[Observation]) -> Intake:
        """Return what is not forgotten; counts are how many came in of each tier."""
        touches: dict[str, list[Observation]] = defaultdict(list)
        for observation in observations:
            for file in dict.fromkeys(observation.files):
                touches[file].append(observation)
        counts: Counter[str] = Counter()
        kept = []
        for observation in observations:
            uses = [u for file in observation.files for u in touches[file] if _uses(u, observation)]
            tier = self._tier(observation, uses, observations[-1])
            counts[tier] += 1
            last = max((use.timestamp for use in uses), default=observation.timestamp)
            days = (observations[-1].timestamp - last).total_seconds() / 86_400
            stability = self.stability_days * observation.importance / 5 * _STABILITY[tier]
            if tier == "working" or reaches(math.exp(-days / stability), self.forget_below):
                kept.append(observation)
        return Intake(tuple(kept), counts)

    def _tier(self, observation: Observation, uses: Sequence[Observation], newest: Observation) -> Tier:
        sessions = len({use.session_id for use in uses})
        if observation.session_id == newest.session_id:
            return "working"
        if sessions >= self.procedural_uses:
            return "procedural"
        return "semantic" if sessions >= self.semantic_uses else "episodic"


def _uses(later: Observation, earlier: Observation) -> bool:
    return later.timestamp > earlier.timestamp and later.session_id != earlier.session_id
