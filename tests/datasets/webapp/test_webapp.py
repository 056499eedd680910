"""The hand-written part of the data set `webapp`: what it promises about its 240 observations and their questions."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from nltk.stem.porter import PorterStemmer
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.datasets.webapp import generate_webapp

FINGERPRINTS = {
    0: "265e16b72b3d4afdee850a7089e50b88b67a25cb686967014fabb9f63bd6000a",
    7: "87853af5516e89dd44a86e7bddb2eb9e1f5195dd6c5884f9cc982a52bf1e9b8b",
}
CATEGORIES = {"exact", "semantic", "temporal", "cross-session", "entity", "multi-hop", "knowledge-update", "unanswerable"}
PUBLISHED = {
    "database performance optimization",
    "Playwright test configuration",
    "How did we set up authentication?",
    "test infrastructure and factories",
    "Prisma ORM configuration",
    "CI/CD pipeline configuration",
}
FUNCTION_WORDS = frozenset(
    """
    a about after all already also an and another any anybody are as at be because been before but by can could did do does each else
    end every everybody everyone everything for from get gets give given had has have how i if in into is it its just let made make
    may me more most much must no nobody not now of off on once one only or other our out over own should so some somebody than that
    the their them then there these they thing things this those to too two up us was we were what when where which while who whom why
    will with without would you your
    """.split()  # noqa: SIM905 - a list of a hundred quoted words is harder to read
)

seeds = pytest.mark.parametrize("seed", [0, 1, 2, 7])


@cache
def webapp(seed: int = 0) -> Dataset:
    return generate_webapp(seed=seed)


def text_of(observation: Observation) -> str:
    o = observation
    return " ".join([o.type, o.title, o.subtitle, o.narrative, *o.facts, *o.concepts, *o.files])


@cache
def stem(word: str) -> str:
    return PorterStemmer().stem(word)


@cache
def content(text: str) -> frozenset[str]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return frozenset(stem(word) for word in words if len(word) > 1 and word not in FUNCTION_WORDS)


def of(dataset: Dataset, category: str) -> list[Query]:
    return [query for query in dataset.queries if query.category == category]


def by_id(dataset: Dataset) -> dict[str, Observation]:
    return {observation.id: observation for observation in dataset.observations}


@seeds
def test_thirty_sessions_of_eight_with_240_distinct_texts(seed: int):
    observations = webapp(seed).observations
    assert Counter(Counter(o.session_id for o in observations).values()) == {8: 30}
    assert len({text_of(o) for o in observations}) == len({o.title for o in observations}) == 240


@seeds
def test_no_two_observations_overlap_by_more_than_six_tenths_of_their_words(seed: int):
    words = [set(re.findall(r"\w+", text_of(o).lower())) for o in webapp(seed).observations]
    assert max(len(a & b) / len(a | b) for i, a in enumerate(words) for b in words[:i]) <= 0.6


def test_observations_read_like_a_memory_and_no_slot_is_left_open():
    for observation in webapp().observations:
        assert 2 <= len(observation.facts) <= 4
        assert observation.concepts
        assert observation.files
        assert 15 <= len(observation.narrative.split()) <= 80
        assert not re.search(r"[{}|]", text_of(observation))


def test_time_starts_at_a_fixed_epoch_and_runs_over_working_days():
    times = [o.timestamp for o in webapp().observations]
    assert times == sorted(set(times))
    assert datetime(2026, 1, 5, 9, tzinfo=UTC) <= times[0] < datetime(2026, 1, 5, 10, tzinfo=UTC)
    assert {t.weekday() for t in times} <= {0, 1, 2, 3, 4}
    assert all(len({o.timestamp.date() for o in webapp().observations if o.session_id == s}) == 1 for s in ("s0001", "s0017", "s0030"))


@pytest.mark.parametrize("seed", FINGERPRINTS)
def test_a_seed_always_gives_the_same_bytes(seed: int):
    assert generate_webapp(seed=seed).fingerprint == FINGERPRINTS[seed]


def test_neither_locale_nor_hash_seed_nor_time_zone_matters():
    surroundings = {**os.environ, "PYTHONHASHSEED": "4711", "LC_ALL": "C", "LANG": "C", "TZ": "Asia/Tokyo"}
    program = "from recallmeter.datasets.webapp import generate_webapp; print(generate_webapp().fingerprint)"
    answer = subprocess.run([sys.executable, "-c", program], env=surroundings, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == FINGERPRINTS[0]


def test_labels_belong_to_events_whatever_the_seed_words_them_like():
    def labels(dataset: Dataset) -> dict[str, dict[int, int]]:
        place = {o.id: number for number, o in enumerate(dataset.observations)}
        return {q.id: {place[i]: grade for i, grade in q.relevant.items()} for q in dataset.queries}

    first, other = webapp(0), webapp(1)
    assert labels(first) == labels(other)
    assert not {o.id for o in first.observations} & {o.id for o in other.observations}
    assert sum(text_of(a) != text_of(b) for a, b in zip(first.observations, other.observations, strict=True)) > 120


def test_every_category_is_asked_often_enough_and_the_core_has_one_of_each():
    queries = webapp().queries
    assert len(queries) >= 120
    assert len({q.text for q in queries}) == len(queries)
    counts = Counter(q.category for q in queries)
    assert set(counts) == CATEGORIES
    assert min(counts.values()) >= 15
    core = [q for q in queries if "core" in q.tags]
    assert len(core) == 20
    assert {q.category for q in core} == CATEGORIES
    assert {q.text for q in core} >= PUBLISHED


def test_grades_and_ceilings():
    relevant = [q.relevant for q in webapp().queries if q.answerable]
    assert {grade for grades in relevant for grade in grades.values()} == {1, 2}
    assert all(2 in grades.values() for grades in relevant)
    assert max(map(len, relevant)) <= 10
    assert sum(min(5, len(grades)) / len(grades) for grades in relevant) / len(relevant) >= 0.95


@seeds
def test_semantic_questions_share_no_content_word_with_what_answers_them(seed: int):
    known = by_id(webapp(seed))
    assert {
        q.id: shared for q in of(webapp(seed), "semantic") for i in q.relevant if (shared := content(q.text) & content(text_of(known[i])))
    } == {}


@seeds
def test_multi_hop_answers_are_reached_through_a_bridge_alone(seed: int):
    known = by_id(webapp(seed))
    for query in of(webapp(seed), "multi-hop"):
        answers = [known[i] for i, grade in query.relevant.items() if grade == 2]
        (bridge,) = (known[i] for i, grade in query.relevant.items() if grade == 1)
        assert content(query.text) & content(text_of(bridge)), query.id
        for answer in answers:
            assert not content(query.text) & content(text_of(answer)), query.id
            assert content(text_of(bridge)) & content(text_of(answer)), query.id


def test_knowledge_updates_ask_for_the_later_observation_only():
    known = by_id(webapp())
    superseded = {o.superseded_by: o for o in known.values() if o.superseded_by}
    assert len(superseded) >= 20
    for later, earlier in superseded.items():
        assert earlier.timestamp < known[later].timestamp
    for query in of(webapp(), "knowledge-update"):
        assert any(i in superseded for i in query.relevant), query.id
        assert all(known[i].superseded_by is None for i in query.relevant), query.id


def test_nothing_relevant_lies_in_the_future_and_some_questions_are_asked_midway():
    known = by_id(webapp())
    end = max(o.timestamp for o in known.values())
    for query in webapp().queries:
        assert query.asked_at is not None
        assert all(known[i].timestamp <= query.asked_at for i in query.relevant), query.id
    midway = [q for q in of(webapp(), "temporal") if q.asked_at and q.asked_at < end]
    assert len(midway) >= 5
    for query in midway:
        (answer,) = (known[i] for i in query.relevant)
        assert answer.superseded_by, "at the end the answer is another one"
        assert query.asked_at
        assert query.asked_at < known[answer.superseded_by].timestamp


def test_unanswerable_questions_have_nothing_relevant():
    assert all(not q.relevant for q in of(webapp(), "unanswerable"))
    assert all(q.relevant for q in webapp().queries if q.category != "unanswerable")


@seeds
def test_every_question_has_three_hard_negatives(seed: int):
    for query in webapp(seed).queries:
        visible = [o for o in webapp(seed).observations if query.asked_at and o.timestamp <= query.asked_at]
        negatives = [o for o in visible if o.id not in query.relevant and content(query.text) & content(text_of(o))]
        assert len(negatives) >= 3, query.id


def recall_at_10(fields: str) -> float:
    """Rank by the number of content words shared with some fields of an observation; ties by id."""
    dataset = webapp()
    documents = {o.id: content(" ".join(o.concepts) if fields == "concepts" else text_of(o)) for o in dataset.observations}
    recalls = []
    for query in dataset.queries:
        if query.answerable:
            shared = {i: len(content(query.text) & words) for i, words in documents.items()}
            found = sorted((i for i in shared if shared[i]), key=lambda i: (-shared[i], i))[:10]
            recalls.append(len(set(found) & set(query.relevant)) / len(query.relevant))
    return sum(recalls) / len(recalls)


def test_labels_do_not_leak_through_concepts():
    assert recall_at_10("concepts") < min(0.5, 0.8 * recall_at_10("everything"))


def test_keywords_alone_reach_neither_the_ceiling_nor_nothing():
    assert 0.4 < recall_at_10("everything") < 0.75


def test_no_personal_names():
    given_names = "alice bob carol dave david emma eve john jane james maria mary michael peter paul sarah susan thomas tom anna"
    written = " ".join(path.read_text(encoding="utf-8") for path in _history().glob("*.yaml")).lower()
    assert not set(given_names.split()) & set(re.findall(r"[a-z]+", written))
    assert not re.search(r"\b(mr|mrs|dr)\.", written)


def _history() -> Path:
    import recallmeter.datasets.webapp

    return Path(inspect.getfile(recallmeter.datasets.webapp)).with_name("history")


def test_the_configuration_says_what_the_code_defaults_to():
    configuration = yaml.safe_load((Path(__file__).parents[3] / "conf/dataset/webapp.yaml").read_text(encoding="utf-8"))
    assert configuration.pop("_target_") == "recallmeter.generate_webapp"
    assert configuration == {name: p.default for name, p in inspect.signature(generate_webapp).parameters.items()}


@pytest.mark.parametrize(("sessions", "observations_per_session"), [(0, 8), (-1, 8), (30, 0), (30, 97), (10**7, 8), ("many", 8), (30, 7.5)])
def test_numbers_out_of_range_are_refused(sessions: Any, observations_per_session: Any):
    with pytest.raises(InputError, match=r"dataset\.(sessions|observations_per_session): .* is not a whole number in 1–"):
        generate_webapp(sessions, observations_per_session)
