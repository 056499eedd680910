from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.arms.stored import CandidateStore
from recallmeter.retrieval.cache import Cache
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.timing import clock
from recallmeter.retrieval.trace import Trace

MEMORY = [
    Observation(id=identifier, session_id="s", timestamp=datetime(2026, 1, 5, tzinfo=UTC), type="note", title=identifier, scope=scope)
    for identifier, scope in (("a", ""), ("b", ""), ("c", "x"))
]


class Everything:
    """An arm for tests: finds all, and counts how often it was built and asked."""

    def __init__(self) -> None:
        self.built = self.searches = 0
        self.note = "looked"

    def build(self, corpus: Corpus) -> EverythingIndex:
        self.built += 1
        return EverythingIndex(self, np.arange(len(corpus)))


@dataclass
class EverythingIndex:
    arm: Everything
    rows: np.ndarray

    def search(self, question: Question, limit: int) -> Candidates:
        self.arm.searches += 1
        question.trace.replay("embed", 7.0)
        question.trace.notes.append(self.arm.note)
        return Candidates.best(self.rows, self.rows / 3, limit)


def stored(folder: Path, arm: Everything, identity: str = "one") -> tuple[CandidateStore, Pipeline]:
    store = CandidateStore(Cache("candidates", folder))
    pipeline = Pipeline({"all": store.arm(identity, arm)})
    pipeline.index(MEMORY)
    return store, pipeline


def test_what_is_stored_is_what_the_arm_found(tmp_path: Path) -> None:
    arm = Everything()
    plain = Pipeline({"all": Everything()})
    plain.index(MEMORY)
    _, pipeline = stored(tmp_path, arm)
    for _ in range(2):
        assert pipeline.search("q", 2).hits == plain.search("q", 2).hits
    assert (arm.built, arm.searches) == (1, 1)


def test_another_process_finds_it_on_disk_with_its_notes_and_without_its_times(tmp_path: Path) -> None:
    store, pipeline = stored(tmp_path, Everything())
    first = pipeline.search("q", 2)
    store.flush()
    fresh = Everything()
    again, pipeline = stored(tmp_path, fresh)
    second = pipeline.search("q", 2)
    assert (fresh.searches, again.searches) == (0, 0)
    assert second.hits == first.hits
    assert first.trace is not None
    assert second.trace is not None
    assert first.trace.spans["total"] >= first.trace.spans["total.all"] >= first.trace.spans["total.all.embed"] == 7.0
    assert second.trace.spans.keys() == set()
    assert second.trace.notes == ["looked"]


def test_asked_live_the_arm_answers_once_a_process_and_is_charged_each_time(tmp_path: Path) -> None:
    store, pipeline = stored(tmp_path, Everything())
    pipeline.search("q", 2)
    store.flush()
    fresh = Everything()
    store, pipeline = stored(tmp_path, fresh)
    for _ in range(2):
        with clock.live():
            answer = pipeline.search("q", 2)
        assert answer.trace is not None
        assert 50.0 > answer.trace.spans["total"] >= answer.trace.spans["total.all.embed"] == 7.0
    assert (fresh.searches, store.searches) == (1, 0)


@pytest.mark.parametrize("change", ["question", "k", "identity", "scope"])
def test_what_the_answer_depends_on_is_part_of_the_key(tmp_path: Path, change: str) -> None:
    arm = Everything()
    _, pipeline = stored(tmp_path, arm)
    pipeline.search("q", 2)
    if change == "identity":
        _, pipeline = stored(tmp_path, arm, "two")
    pipeline.search("r" if change == "question" else "q", 3 if change == "k" else 2, scope="x" if change == "scope" else "")
    assert arm.searches == 2


def test_an_answer_that_fell_back_is_not_kept(tmp_path: Path) -> None:
    arm = Everything()
    arm.note = "fell back: no answer within 30 s"
    _, pipeline = stored(tmp_path, arm)
    for _ in range(2):
        assert pipeline.search("q", 2).hits
    assert arm.searches == 2


def test_a_graft_counts_the_recorded_time_in_place_of_the_real_one() -> None:
    recorded = Trace(spans={"arm": 40.0, "arm.embed": 30.0})
    trace = Trace()
    with trace.span("total"), trace.span("vector"):
        trace.graft(recorded, "arm")
    assert trace.spans["total.vector.embed"] == 30.0
    assert trace.spans["total"] >= trace.spans["total.vector"] >= 40.0
    assert trace.spans["total"] < 45.0
