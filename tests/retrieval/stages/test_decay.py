"""Time decay by half-life and along the forgetting curve."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.stages.decay import Ebbinghaus, TimeDecay

START = datetime(2026, 1, 5, tzinfo=UTC)


def remembered(identifier: str, day: float, *, session: str = "", files: tuple[str, ...] = ()) -> Observation:
    at = START + timedelta(days=day)
    return Observation(id=identifier, session_id=session or identifier, timestamp=at, type="note", title="t", files=files)


def scores(stage: TimeDecay | Ebbinghaus, corpus: Corpus, given: dict[str, float], asked_at: datetime | None = None) -> dict[str, float]:
    bound = stage.bind(corpus) if isinstance(stage, Ebbinghaus) else stage
    candidates = Candidates(np.array([corpus.rows[i] for i in given]), np.array(list(given.values())))
    found = bound.apply(candidates, Question("q", asked_at), corpus, 10)
    return {corpus.ids[row]: score for row, score in zip(found.rows, found.scores.tolist(), strict=True)}


CORPUS = Corpus.of([remembered("old", 0), remembered("middle", 20), remembered("new", 30)])


def test_a_score_halves_with_each_half_life_before_the_newest_observation() -> None:
    assert scores(TimeDecay(10), CORPUS, {"old": 0.8, "middle": 0.8, "new": 0.8}) == pytest.approx({"new": 0.8, "middle": 0.4, "old": 0.1})


def test_age_counts_to_when_the_question_was_asked() -> None:
    assert scores(TimeDecay(10), CORPUS, {"old": 0.8}, START + timedelta(days=20)) == pytest.approx({"old": 0.2})


def test_the_order_follows_the_decayed_scores() -> None:
    assert list(scores(TimeDecay(10), CORPUS, {"old": 0.9, "new": 0.2})) == ["new", "old"]


def test_a_part_of_the_score_can_be_kept_from_decay() -> None:
    assert scores(TimeDecay(10, weight=0.5), CORPUS, {"middle": 1.0}) == pytest.approx({"middle": 0.75})
    assert scores(TimeDecay(10, weight=0), CORPUS, {"old": 0.9, "new": 0.2}) == {"old": 0.9, "new": 0.2}


def test_a_negative_score_does_not_rise_with_age() -> None:
    assert scores(TimeDecay(10), CORPUS, {"old": -0.5}) == {"old": -0.5}


def test_an_unused_memory_is_forgotten_exponentially() -> None:
    assert scores(Ebbinghaus(10), CORPUS, {"old": 1.0}) == pytest.approx({"old": math.exp(-3)})


def test_use_restarts_the_clock_and_slows_forgetting() -> None:
    memory = Corpus.of([remembered("old", 0, files=("a.ts", "b.ts")), remembered("use", 20, files=("b.ts", "a.ts")), remembered("new", 30)])
    assert scores(Ebbinghaus(10), memory, {"old": 1.0}) == pytest.approx({"old": math.exp(-10 / 20)})


def test_only_a_later_observation_of_another_session_that_was_known_when_asked_is_a_use() -> None:
    memory = Corpus.of(
        [
            remembered("before", 0, files=("a.ts",)),
            remembered("it", 10, session="s", files=("a.ts",)),
            remembered("beside", 11, session="s", files=("a.ts",)),
            remembered("after", 40, files=("a.ts",)),
        ]
    )
    assert scores(Ebbinghaus(10), memory, {"it": 1.0}, START + timedelta(days=30)) == pytest.approx({"it": math.exp(-2)})


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="half_life_days: 0 days"):
        TimeDecay(0)
    with pytest.raises(InputError, match="stability_days: nan days"):
        Ebbinghaus(math.nan)
    with pytest.raises(InputError, match=r"weight 1\.1"):
        TimeDecay(weight=1.1)
