"""Time decay: what was remembered long ago counts less, unless it was used again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question

_DAY = 86_400.0


class TimeDecay:
    """Halve a score every `half_life_days`: score × ((1 − weight) + weight × 2^(−age / half-life)).

    Age is counted to the moment the question was asked, else to the newest observation, never to the clock.

    Args:
        half_life_days: the age in days at which an observation counts half, > 0.
        weight: how much of the score decays, in [0, 1].

    Raises:
        InputError: a half-life that is not positive, or a weight outside [0, 1].
    """

    def __init__(self, half_life_days: float = 30.0, weight: float = 1.0) -> None:
        self.half_life_days = _positive(half_life_days, "half_life_days")
        self.weight = _share(weight)

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return all candidates, rescored and sorted."""
        age = (corpus.now(question.asked_at).timestamp() - corpus.times[candidates.rows]) / _DAY
        return _rescored(candidates, np.exp2(-age / self.half_life_days), self.weight)


class Ebbinghaus:
    """Forget exponentially, the more slowly the more often a memory was used: retention = e^(−t / S).

    S = `stability_days` × (1 + uses), and t restarts with each use. A use is a later observation of another session that
    touches one of the same files: it is known from the memory alone, so that no answer depends on the questions before it.
    Source: the forgetting curve as in Zhong et al., MemoryBank, AAAI 2024.

    Args:
        stability_days: the days after which an unused memory is kept to 1/e, > 0.
        weight: how much of the score decays, in [0, 1].

    Raises:
        InputError: a stability that is not positive, or a weight outside [0, 1].
    """

    def __init__(self, stability_days: float = 30.0, weight: float = 1.0) -> None:
        self.stability_days = _positive(stability_days, "stability_days")
        self.weight = _share(weight)

    def bind(self, corpus: Corpus) -> _BoundEbbinghaus:
        """Note which rows touch each file."""
        touching: dict[str, list[int]] = defaultdict(list)
        for row, observation in enumerate(corpus.observations):
            for file in dict.fromkeys(observation.files):
                touching[file].append(row)
        return _BoundEbbinghaus(self.stability_days, self.weight, touching)


class _BoundEbbinghaus:
    def __init__(self, stability_days: float, weight: float, touching: Mapping[str, Sequence[int]]) -> None:
        self.stability_days, self.weight, self.touching = stability_days, weight, touching

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        now = corpus.now(question.asked_at).timestamp()
        uses = [self._uses(row, now, corpus) for row in candidates.rows.tolist()]
        idle = np.array([now - max(times, default=corpus.times[row]) for row, times in zip(candidates.rows, uses, strict=True)]) / _DAY
        stability = self.stability_days * (1 + np.array([len(times) for times in uses]))
        return _rescored(candidates, np.exp(-idle / stability), self.weight)

    def _uses(self, row: int, now: float, corpus: Corpus) -> list[float]:
        session, made = corpus.observations[row].session_id, corpus.times[row]
        others = {other for file in corpus.observations[row].files for other in self.touching[file]}
        return [corpus.times[o] for o in others if made < corpus.times[o] <= now and corpus.observations[o].session_id != session]


def _rescored(candidates: Candidates, retention: NDArray[np.float64], weight: float) -> Candidates:
    # a score below 0 would rise by shrinking
    factors = np.where(candidates.scores > 0, (1 - weight) + weight * retention, 1.0)
    return Candidates.best(candidates.rows, candidates.scores * factors, len(candidates))


def _positive(value: float, name: str) -> float:
    if not value > 0:
        raise InputError(f"{value} days is not positive", where=name)
    return float(value)


def _share(weight: float) -> float:
    if not 0 <= weight <= 1:
        raise InputError(f"weight {weight} is not in [0, 1]", where="weight")
    return float(weight)
