"""Cutoffs: how much of a ranking is worth handing over."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question
from ..rounding import reaches

Metric = Literal["cosine", "dot", "l2"]
"""What a vector arm's scores are; ``l2`` stands for negated Euclidean distances."""


class TopK:
    """Keep the first `n`, whatever their scores.

    Raises:
        InputError: `n` below 1.
    """

    def __init__(self, n: int = 10) -> None:
        if n < 1:
            raise InputError(f"n {n} is below 1", where="stages.cutoff.n")
        self.n = n

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return at most `n` candidates."""
        return candidates.take(range(min(self.n, len(candidates))))


class Threshold:
    """Keep what reaches a fixed similarity.

    Args:
        threshold: the least similarity that is kept.
        arm: whose scores are the similarities; None stands for the candidates' own, as in a system of one vector arm.
            Fused scores are no similarities, so a fused system names its vector arm. What that arm did not find is cut.
        metric: what those scores are; on vectors of length 1 the three decide alike.

    Raises:
        InputError: the pipeline has no such arm, or the metric is unknown.
    """

    def __init__(self, threshold: float = 0.7, arm: str | None = None, metric: Metric = "cosine") -> None:
        self.threshold, self.arm = float(threshold), arm
        self.metric: Metric = _known(metric)

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return the candidates that reach the threshold, in their order."""
        similarity = _similarity(candidates, question, self.arm, self.metric)
        return candidates if similarity is None else candidates.take(np.flatnonzero(reaches(similarity, self.threshold)))


class DynamicCutoff:
    """Return nothing when nothing is near; else keep what is nearly as near as the best.

    Of the first `maximum` candidates those are kept whose similarity reaches max(floor, ratio × best); none is when the best
    is below the floor.

    Args:
        floor: the least similarity that the best candidate must reach.
        ratio: the share of the best similarity that the others must reach, in [0, 1].
        maximum: how many candidates are looked at.
        arm: whose scores are the similarities, as in `Threshold`.
        metric: what those scores are.

    Raises:
        InputError: a ratio outside [0, 1], a maximum below 1, an unknown arm or metric.
    """

    def __init__(
        self, floor: float = 0.5, ratio: float = 0.85, maximum: int = 10, arm: str | None = None, metric: Metric = "cosine"
    ) -> None:
        if not 0 <= ratio <= 1:
            raise InputError(f"ratio {ratio} is not in [0, 1]", where="stages.cutoff.ratio")
        if maximum < 1:
            raise InputError(f"maximum {maximum} is below 1", where="stages.cutoff.maximum")
        self.floor, self.ratio, self.maximum = float(floor), float(ratio), maximum
        self.arm = arm
        self.metric: Metric = _known(metric)

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return what is kept, in its order; nothing when the best is below the floor."""
        first = candidates.take(range(min(self.maximum, len(candidates))))
        similarity = _similarity(first, question, self.arm, self.metric)
        if similarity is None or len(first) == 0:
            return first
        best = float(similarity.max())
        if not reaches(best, self.floor):
            question.trace.notes.append(f"nothing returned: the best is below the floor of {self.floor:g}")
            return Candidates.none()
        # a best similarity below 0 is not to be raised by the ratio
        return first.take(np.flatnonzero(reaches(similarity, max(self.floor, min(best, self.ratio * best)))))


def _known(metric: Metric) -> Metric:
    if metric not in ("cosine", "dot", "l2"):
        raise InputError(f"unknown metric {metric!r}", where="stages.cutoff.metric", remedy="use cosine, dot or l2")
    return metric


def _similarity(candidates: Candidates, question: Question, arm: str | None, metric: Metric) -> NDArray[np.float64] | None:
    """Return each candidate's similarity, −∞ where the arm did not find it; None when the arm found nothing to judge by."""
    scores = candidates.scores
    if arm is not None:
        if arm not in question.earlier:
            raise InputError(f"no arm {arm!r} to cut by", where="stages.cutoff.arm", remedy=f"name one of {', '.join(question.earlier)}")
        found = question.earlier[arm]
        if len(found) == 0:
            question.trace.notes.append(f"not cut: arm {arm} found nothing to judge by")
            return None
        by_row = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
        scores = np.array([by_row.get(row, -np.inf) for row in candidates.rows.tolist()])
    # for unit vectors ‖a − b‖² = 2 − 2 cos
    return 1 - scores**2 / 2 if metric == "l2" else scores
