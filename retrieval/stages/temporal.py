"""Temporal filter: what a question says about time narrows what may answer it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import numpy as np

from ..corpus import Candidates, Corpus, Question
from ..text.analysis import Analysis, Analyzer
from ..text.when import Period, period

_EVENT = re.compile(r"\b(before|after|since|until)\s+(?:we |the |our |a |an )*(?P<event>[^,.;?!]+)", re.IGNORECASE)


class TemporalFilter:
    """Keep the candidates of the period that the question names, seen from when it was asked, else from the newest observation.

    Args:
        events: whether "before the migration" is understood too: the event is the earliest observation whose title has
            all the terms after "before", "after", "since" or "until", function words left out; it belongs to both sides.
        analyzer: what makes terms of the event and the titles; English with stems when None.
    """

    def __init__(self, events: bool = True, analyzer: Analysis | None = None) -> None:
        self.events, self.analyzer = events, analyzer or Analyzer()

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return the candidates of the period, in their order; all of them when it names none, or none lies in it."""
        named = period(question.text, corpus.now(question.asked_at)) or (self._around_event(question, corpus) if self.events else None)
        if named is None:
            return candidates
        times = corpus.times[candidates.rows]
        kept = np.ones(len(candidates), np.bool_)
        if named.start:
            kept &= times >= named.start.timestamp()
        if named.end:
            kept &= times < named.end.timestamp()
        if not kept.any():
            question.trace.notes.append("not filtered by time: nothing lies in the period")
            return candidates
        return candidates.take(np.flatnonzero(kept))

    def _around_event(self, question: Question, corpus: Corpus) -> Period | None:
        match = _EVENT.search(question.text)
        if match is None:
            return None
        wanted = set(self.analyzer.terms(match["event"]))
        seen = range(len(corpus)) if question.visible is None else np.flatnonzero(question.visible).tolist()
        times = [corpus.times[row] for row in seen if wanted.issubset(self.analyzer.terms(corpus.observations[row].title))]
        if not wanted or not times:
            question.trace.notes.append("not filtered by time: no title names the event")
            return None
        moment = datetime.fromtimestamp(min(times), UTC)
        if match[1].lower() in ("before", "until"):
            return Period(None, moment + timedelta.resolution)
        return Period(moment, None)
