"""An arm that may fail, and what answers in its place."""

from __future__ import annotations

from ...datasets.errors import InputError
from ..corpus import Arm, ArmIndex, Candidates, Corpus, Question
from ..timing import clock
from ..unavailable import UnavailableError

FAILURES = (UnavailableError, InputError)

NOTE = "fell back"
"""How the note begins that a search leaves in its trace when the arm did not answer."""


class Fallback:
    """An arm whose failure costs no answer: the other arm gives it, and the trace says that it did and why.

    Storing never fails with the arm: a corpus that it could not index is searched by the other alone. A failed query stays
    failed as long as the index lives, so that asking again gives the same answer, in the time that the failed try took.

    Args:
        arm: the arm to try, such as vectors.
        otherwise: the arm that answers when it fails or finds nothing, such as term match; None where the pipeline has other
            arms that answer anyway.
    """

    def __init__(self, arm: Arm, otherwise: Arm | None = None) -> None:
        self.arm, self.otherwise = arm, otherwise

    def build(self, corpus: Corpus) -> _FallbackIndex:
        """Index the corpus with both arms, or with the other alone when the first fails."""
        other = self.otherwise.build(corpus) if self.otherwise else None
        try:
            return _FallbackIndex(self.arm.build(corpus), "", other)
        except FAILURES as error:
            return _FallbackIndex(None, str(error), other)


class _FallbackIndex:
    def __init__(self, index: ArmIndex | None, reason: str, other: ArmIndex | None) -> None:
        self.index, self.reason, self.other = index, reason, other
        self._failed: dict[str, tuple[str, float]] = {}

    def search(self, question: Question, limit: int) -> Candidates:
        found, reason = self._tried(question, limit)
        if len(found):
            return found
        instead = self.other.search(question, limit) if self.other else found
        if reason or len(instead):
            question.trace.notes.append(f"{NOTE}: {reason or 'nothing was found'}")
        return instead

    def _tried(self, question: Question, limit: int) -> tuple[Candidates, str]:
        """Return what the arm finds and why it failed, which is empty when it did not."""
        if self.index is None:
            return Candidates.none(), self.reason
        if question.text in self._failed:
            reason, milliseconds = self._failed[question.text]
            question.trace.replay("failed", milliseconds)
            return Candidates.none(), reason
        with clock.stopwatch() as watch:
            try:
                return self.index.search(question, limit), ""
            except FAILURES as error:
                reason = str(error)
        self._failed[question.text] = reason, watch.ms or 0.0
        return Candidates.none(), reason
