"""The Chinese data set: what it promises about its observations, its questions, and the four cases of semantic memory."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations, pairwise

import pytest
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.datasets.zh_memory import load_zh_memory
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.arms.vector import Vector
from recallmeter.retrieval.corpus import Arm
from recallmeter.retrieval.embedders.embedding import CachedEmbedder
from recallmeter.retrieval.embedders.local import SentenceTransformerEncoder
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.text.analysis import Analyzer

FINGERPRINT = "3b3c12b502a3096db8238b94861a19d4cbf5b2e822f8c5fe54591032b96f9d25"
CATEGORIES = {"exact", "semantic", "temporal", "cross-session", "entity", "multi-hop", "knowledge-update", "unanswerable"}
FUNCTION_PAIRS = {"什么", "怎么", "怎样", "哪种", "哪位", "时候", "那次", "不能"}


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_zh_memory()


@pytest.fixture(scope="module")
def observations(dataset: Dataset) -> dict[str, Observation]:
    return {observation.id: observation for observation in dataset.observations}


def text_of(observation: Observation) -> str:
    o = observation
    return " ".join((o.title, o.subtitle, o.narrative, *o.facts, *o.concepts, *o.files))


def units(text: str) -> set[str]:
    """Return the pairs of neighbouring Chinese characters, and the words in other letters."""
    pairs = {"".join(pair) for run in re.findall(r"[\u4e00-\u9fff]+", text) for pair in pairwise(run)}
    return pairs | set(re.findall(r"[a-z0-9]+", text.lower()))


def test_sixteen_sessions_of_eight_in_order_of_time(dataset: Dataset) -> None:
    assert list(Counter(o.session_id for o in dataset.observations).values()) == [8] * 16
    times = [o.timestamp for o in dataset.observations]
    assert times == sorted(set(times))
    assert dataset.fingerprint == load_zh_memory().fingerprint == FINGERPRINT


def test_everything_is_chinese_and_no_two_are_alike(dataset: Dataset) -> None:
    assert all(re.search(r"[\u4e00-\u9fff]{4}", o.narrative) and re.search(r"[\u4e00-\u9fff]", o.title) for o in dataset.observations)
    assert all(re.search(r"[\u4e00-\u9fff]{2}", query.text) for query in dataset.queries)
    assert len({query.text for query in dataset.queries}) == len(dataset.queries)
    said = [units(text_of(o)) for o in dataset.observations]
    assert max(len(a & b) / len(a | b) for a, b in combinations(said, 2)) < 0.3


def test_every_category_has_at_least_eight_questions(dataset: Dataset) -> None:
    counts = Counter(query.category for query in dataset.queries)
    assert set(counts) == CATEGORIES
    assert min(counts.values()) >= 8
    assert len(dataset.queries) >= 60
    assert all(query.answerable == (query.category != "unanswerable") for query in dataset.queries)


def test_answers_are_graded_and_there_when_asked(dataset: Dataset, observations: dict[str, Observation]) -> None:
    for query in dataset.queries:
        assert set(query.relevant.values()) <= {1, 2}, query.id
        assert 2 in query.relevant.values() or not query.answerable, query.id
        assert len(query.relevant) <= 6, query.id
        assert all(observations[identifier].timestamp < query.asked_at for identifier in query.relevant), query.id


def test_what_was_superseded_does_not_answer_an_update(dataset: Dataset, observations: dict[str, Observation]) -> None:
    for query in (query for query in dataset.queries if query.category == "knowledge-update"):
        assert all(observations[identifier].superseded_by is None for identifier in query.relevant), query.id
        assert any(o.superseded_by in query.relevant for o in dataset.observations), query.id
    for before in (o for o in dataset.observations if o.superseded_by):
        assert observations[before.superseded_by].timestamp > before.timestamp


def test_answers_across_sessions_are_of_several(dataset: Dataset, observations: dict[str, Observation]) -> None:
    for query in (query for query in dataset.queries if query.category == "cross-session"):
        assert len({observations[identifier].session_id for identifier in query.relevant}) > 1, query.id


def test_a_semantic_question_shares_no_word_with_its_answer(dataset: Dataset, observations: dict[str, Observation]) -> None:
    for query in (query for query in dataset.queries if query.category == "semantic"):
        for identifier in query.relevant:
            assert units(query.text) & units(text_of(observations[identifier])) <= FUNCTION_PAIRS, query.id


def test_what_has_no_answer_shares_words_with_what_is_there(dataset: Dataset) -> None:
    for query in (query for query in dataset.queries if not query.answerable):
        assert any(len(units(query.text) & units(text_of(o)) - FUNCTION_PAIRS) > 0 for o in dataset.observations), query.id


def ranks(arm: Arm, dataset: Dataset) -> dict[str, int]:
    """Return the rank of the answer to each question of the four cases; 1000 where it is missing."""
    system = Pipeline({"arm": arm})
    system.index(dataset.observations)

    def rank(query: Query) -> int:
        ids = system.search(query.text, len(dataset.observations), asked_at=query.asked_at).ids
        return min((ids.index(identifier) + 1 for identifier in query.relevant if identifier in ids), default=1000)

    return {query.text: rank(query) for query in dataset.queries if query.tags}


SPICY, NO_SHARED_WORD, TS = "能吃麻辣火锅吗", "出海游玩会不会难受", "TypeScript 的使用有什么规定"
PYTHON, NODE = "Python 后端用的什么框架", "Node.js 后端负责什么"


@pytest.mark.parametrize("mode", ["bigrams", pytest.param("words", marks=pytest.mark.integration)])
def test_the_four_cases_by_term_match(mode, dataset: Dataset) -> None:
    if mode == "words":
        pytest.importorskip("rjieba", reason="the extra cjk is not installed")
    found = ranks(BM25(Analyzer(segmentation=mode)), dataset)
    assert found == {SPICY: 1000, NO_SHARED_WORD: 1000, TS: 1 if mode == "words" else 2, PYTHON: 1, NODE: 1}
    without = ranks(BM25(Analyzer(segmentation=mode), synonyms=None), dataset)
    assert without[TS] > 1


def test_the_four_cases_by_an_english_model(dataset: Dataset) -> None:
    """What all-MiniLM-L6-v2 really does: it places what is named in Latin letters, and not what takes Chinese to know."""
    found = ranks(Vector(CachedEmbedder(SentenceTransformerEncoder())), dataset)
    assert found[PYTHON] == found[NODE] == 1
    assert found[TS] <= 5
    assert found[NO_SHARED_WORD] == 1
    assert 5 < found[SPICY] < 1000
