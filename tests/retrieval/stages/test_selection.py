"""Stages that choose: session diversity, MMR, near-duplicates, token budget, supersession."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.stages.budget import TokenBudget
from recallmeter.retrieval.stages.diversity import SessionDiversity
from recallmeter.retrieval.stages.duplicates import NearDuplicates
from recallmeter.retrieval.stages.mmr import MMR
from recallmeter.retrieval.stages.superseded import HideSuperseded

START = datetime(2026, 1, 5, tzinfo=UTC)
ASKED = Question("anything")


def remembered(identifier: str, *, session: str = "s1", title: str = "", day: int = 0, by: str | None = None) -> Observation:
    return Observation(
        id=identifier, session_id=session, timestamp=START + timedelta(days=day), type="note", title=title or identifier, superseded_by=by
    )


def ranked(corpus: Corpus, ids: Sequence[str]) -> Candidates:
    return Candidates(np.array([corpus.rows[i] for i in ids]), np.linspace(1, 0.1, len(ids)))


def kept(stage: object, corpus: Corpus, ids: Sequence[str], k: int, question: Question = ASKED) -> list[str]:
    found = stage.apply(ranked(corpus, ids), question, corpus, k)  # type: ignore[attr-defined]
    return [corpus.ids[row] for row in found.rows]


class TestSessionDiversity:
    corpus = Corpus.of([*(remembered(f"a{i}", session="a") for i in range(5)), *(remembered(f"b{i}", session="b") for i in range(3))])
    order = ("a0", "a1", "a2", "a3", "b0", "a4", "b1", "b2")

    def test_no_session_gets_more_than_its_share_while_others_have_candidates(self) -> None:
        assert kept(SessionDiversity(2), self.corpus, self.order, 4) == ["a0", "a1", "b0", "b1"]

    def test_the_skipped_fill_up_in_their_order(self) -> None:
        assert kept(SessionDiversity(2), self.corpus, self.order, 7) == ["a0", "a1", "b0", "b1", "a2", "a3", "a4"]

    def test_a_skipped_candidate_after_the_last_taken_fills_up_too(self) -> None:
        assert kept(SessionDiversity(1), self.corpus, ("a0", "b0", "b1", "a1"), 4) == ["a0", "b0", "b1", "a1"]

    def test_a_share_below_one_is_refused(self) -> None:
        with pytest.raises(InputError, match="per_session 0"):
            SessionDiversity(0)


class Axes:
    """An embedder for tests: a text "x" or "y" points along that axis, "xy" between them."""

    model = "axes"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.array([[("x" in t) + 0.0, ("y" in t) + 0.0] for t in texts])
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        raise AssertionError("the question's vector is not needed")


class TestMMR:
    corpus = Corpus.of([remembered("a", title="x"), remembered("b", title="x"), remembered("c", title="y"), remembered("d", title="xy")])

    def test_a_copy_of_what_was_taken_comes_after_what_is_new(self) -> None:
        assert kept(MMR(Axes(), 0.5).bind(self.corpus), self.corpus, ("a", "b", "c", "d"), 4)[:2] == ["a", "c"]

    def test_full_relevance_keeps_the_order_and_takes_k(self) -> None:
        assert kept(MMR(Axes(), 1.0).bind(self.corpus), self.corpus, ("b", "a", "d", "c"), 3) == ["b", "a", "d"]

    def test_gains_are_those_of_the_formula(self) -> None:
        # relevance scaled to 1, 2/3, 1/3, 0. After a: b .6 × 2/3 − .4 × 1 = 0; c .6/3 − 0 = .2; d 0 − .4 × .707.
        # After c: b still 0; d 0 − .4 × .707 = −.283
        assert kept(MMR(Axes(), 0.6).bind(self.corpus), self.corpus, ("a", "b", "c", "d"), 4) == ["a", "c", "b", "d"]

    def test_what_was_taken_long_before_still_counts(self) -> None:
        # after a and c: b .6 × .3 − .4 × 1 = −.22; d .6 × .2 − .4 × .707 = −.16
        corpus = Corpus.of([*self.corpus.observations, remembered("e", title="xy")])
        candidates = Candidates(np.array([0, 2, 1, 3, 4]), np.array([1.0, 0.9, 0.3, 0.2, 0.0]))
        found = MMR(Axes(), 0.6).bind(corpus).apply(candidates, ASKED, corpus, 5)
        assert [corpus.ids[row] for row in found.rows] == ["a", "c", "d", "b", "e"]

    def test_equal_scores_leave_novelty_to_decide(self) -> None:
        candidates = Candidates(np.array([0, 1, 2]), np.ones(3))
        found = MMR(Axes(), 0.5).bind(self.corpus).apply(candidates, ASKED, self.corpus, 3)
        assert found.rows.tolist() == [0, 2, 1]

    def test_nothing_stays_nothing(self) -> None:
        assert len(MMR(Axes()).bind(self.corpus).apply(Candidates.none(), ASKED, self.corpus, 5)) == 0

    def test_relevance_outside_its_range_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"relevance 1\.5"):
            MMR(Axes(), 1.5)


class TestNearDuplicates:
    corpus = Corpus.of(
        [
            remembered("a", title="the cache was cleared at noon"),
            remembered("b", title="The cache was cleared, at noon!"),
            remembered("c", title="the cache was cleared at midnight"),
            remembered("d", title="login works"),
        ]
    )

    def test_the_first_of_equal_sets_of_words_stays(self) -> None:
        assert kept(NearDuplicates(1.0), self.corpus, ("b", "a", "c", "d"), 4) == ["b", "c", "d"]

    def test_a_lower_overlap_collapses_more(self) -> None:
        assert kept(NearDuplicates(0.7), self.corpus, ("a", "b", "c", "d"), 4) == ["a", "d"]

    def test_others_move_up_into_the_first_k(self) -> None:
        assert kept(NearDuplicates(0.7), self.corpus, ("a", "b", "c", "d"), 2) == ["a", "d"]

    def test_an_overlap_of_nothing_is_refused(self) -> None:
        with pytest.raises(InputError, match="overlap 0"):
            NearDuplicates(0)


class TestTokenBudget:
    # "## " and 37, 77 or 397 characters: 10, 20 and 100 tokens
    corpus = Corpus.of([remembered("small", title="s" * 37), remembered("middle", title="m" * 77), remembered("large", title="l" * 397)])

    def test_whole_observations_are_taken_while_they_fit(self) -> None:
        assert kept(TokenBudget(30), self.corpus, ("middle", "small", "large"), 3) == ["middle", "small"]

    def test_one_that_does_not_fit_is_passed_over(self) -> None:
        assert kept(TokenBudget(30), self.corpus, ("large", "middle", "small"), 3) == ["middle", "small"]

    def test_what_was_taken_is_no_longer_there_to_spend(self) -> None:
        assert kept(TokenBudget(25), self.corpus, ("middle", "small"), 2) == ["middle"]

    def test_what_is_beyond_k_is_not_paid_for(self) -> None:
        assert kept(TokenBudget(1000), self.corpus, ("large", "middle", "small"), 2) == ["large", "middle"]

    def test_nothing_is_cut_to_fit(self) -> None:
        assert kept(TokenBudget(9), self.corpus, ("large", "middle", "small"), 3) == []

    def test_the_counter_is_the_one_named(self) -> None:
        # "## " and one unknown word are three pieces at most where chars4 counts ten
        assert kept(TokenBudget(9, "wordpiece"), self.corpus, ("small",), 1) == []
        assert kept(TokenBudget(5, "wordpiece"), Corpus.of([remembered("a", title="database " * 2)]), ("a",), 1) == ["a"]

    def test_a_budget_of_nothing_and_an_unknown_counter_are_refused(self) -> None:
        with pytest.raises(InputError, match="0 tokens"):
            TokenBudget(0)
        with pytest.raises(InputError, match="unknown token counter"):
            TokenBudget(10, "words")


class TestHideSuperseded:
    corpus = Corpus.of([remembered("old", by="new"), remembered("new", day=3), remembered("orphan", by="gone")])

    def test_what_has_a_successor_is_hidden(self) -> None:
        assert kept(HideSuperseded(), self.corpus, ("old", "new", "orphan"), 3) == ["new", "orphan"]

    def test_before_the_successor_it_still_holds(self) -> None:
        asked_at = START + timedelta(days=1)
        question = Question("anything", asked_at, self.corpus.visible(asked_at))
        assert kept(HideSuperseded(), self.corpus, ("old", "orphan"), 3, question) == ["old", "orphan"]
