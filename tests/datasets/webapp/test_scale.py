"""The data set `webapp` beyond its first application: further applications, streamed, with right labels."""

from __future__ import annotations

import re
import tracemalloc
from collections import Counter, defaultdict
from itertools import islice

import numpy as np
import pytest
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.datasets.webapp import generate_webapp, stream_observations, stream_queries
from scipy import sparse

SESSIONS = 1250


@pytest.fixture(scope="module")
def large() -> Dataset:
    return generate_webapp(sessions=SESSIONS)


@pytest.fixture(scope="module")
def composed(large: Dataset) -> list[Query]:
    return [q for q in large.queries if q.asked_at is None]


@pytest.fixture(scope="module")
def by_application(large: Dataset) -> dict[str, list[Observation]]:
    grouped = defaultdict(list)
    for observation in large.observations[240:]:
        grouped[application_of(observation)].append(observation)
    return grouped


def text_of(observation: Observation) -> str:
    o = observation
    return " ".join([o.title, o.subtitle, o.narrative, *o.facts, *o.concepts, *o.files])


def application_of(observation: Observation) -> str:
    return observation.files[0].split("/")[0]


def holding(phrase: str, observations: list[Observation]) -> set[str]:
    """Ids of those whose text has the phrase as whole words."""
    pattern = re.compile(rf"(?<![\w/]){re.escape(phrase.lower())}(?!\w)")
    return {o.id for o in observations if pattern.search(text_of(o).lower())}


def test_ten_thousand_observations_have_ids_and_texts_of_their_own(large: Dataset):
    assert len(large.observations) == len({text_of(o) for o in large.observations}) == 10_000
    assert Counter(Counter(o.session_id for o in large.observations).values()) == {8: SESSIONS}


def test_no_two_of_ten_thousand_overlap_by_more_than_six_tenths(large: Dataset):
    """All pairs exactly: words that many observations have by a dense product, the others by a sparse one."""
    words = [sorted(set(re.findall(r"\w+", text_of(o).lower()))) for o in large.observations]
    column = {word: number for number, word in enumerate(sorted({word for held in words for word in held}))}
    rows = np.repeat(np.arange(len(words)), [len(held) for held in words])
    columns = np.array([column[word] for held in words for word in held])
    matrix = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=(len(words), len(column)))
    frequent = np.asarray(matrix.sum(0)).ravel() > 150
    dense, rest, size = matrix[:, frequent].toarray(), matrix[:, ~frequent].tocsr(), np.asarray(matrix.sum(1)).ravel()
    largest = 0.0
    for start in range(0, len(words), 1000):
        block = slice(start, start + 1000)
        shared = dense[block] @ dense[start:].T + (rest[block] @ rest[start:].T).toarray()
        overlap = shared / (size[block, None] + size[None, start:] - shared)
        np.fill_diagonal(overlap, 0)
        largest = max(largest, float(overlap.max()))
    assert largest <= 0.6


def test_applications_have_names_of_their_own_and_no_other_mentions_them(large: Dataset):
    mentions: dict[str, set[str]] = defaultdict(set)
    names = {application_of(o) for o in large.observations[240:]}
    for observation in large.observations:
        for word in set(re.findall(r"[a-z]+", text_of(observation).lower())) & names:
            mentions[word].add(application_of(observation))
    assert len(names) == (10_000 - 240 + 239) // 240
    assert mentions == {name: {name} for name in names}


def test_questions_of_further_applications_name_theirs(large: Dataset, composed: list[Query]):
    by_id = {o.id: o for o in large.observations}
    for query in composed:
        asked = query.id.split("-")[0]
        assert asked in query.text.lower()
        assert {application_of(by_id[i]) for i in query.relevant} <= {asked}
    counts = Counter(q.category for q in composed)
    assert min(counts.values()) > 35
    assert set(counts) == {"exact", "entity", "temporal", "knowledge-update", "cross-session", "multi-hop", "unanswerable"}


def test_exact_and_entity_labels_are_all_that_hold_the_name(by_application: dict[str, list[Observation]], composed: list[Query]):
    for query in composed:
        if query.category in ("exact", "entity"):
            everything = by_application[query.id.split("-")[0]]
            phrase = query.text.split("/", 1)[1] if query.category == "entity" else query.text
            assert holding(phrase, everything) | holding(query.text, everything) == set(query.relevant), query.id


def test_updates_and_orders_follow_supersession(large: Dataset, composed: list[Query]):
    by_id = {o.id: o for o in large.observations}
    earlier = {o.superseded_by: o for o in large.observations if o.superseded_by}
    for query in composed:
        answers = [by_id[i] for i, grade in query.relevant.items() if grade == 2]
        if query.category == "knowledge-update":
            (answer,) = answers
            assert earlier[answer.id].timestamp < answer.timestamp
            assert earlier[answer.id].id not in query.relevant
            assert answer.superseded_by is None
        if query.category == "temporal":
            (answer,) = answers
            assert answer.superseded_by in query.relevant


def test_hops_lead_over_a_file_and_nothing_else(large: Dataset, composed: list[Query]):
    by_id = {o.id: o for o in large.observations}
    hops = [q for q in composed if q.category == "multi-hop"]
    for query in hops:
        answer, bridge = (next(by_id[i] for i, grade in query.relevant.items() if grade == wanted) for wanted in (2, 1))
        mishap = query.text.removesuffix(" came from?").split()[-2:]
        assert " ".join(mishap) in bridge.title
        assert not set(mishap) & set(re.findall(r"[\w-]+", text_of(answer).lower()))
        assert set(answer.files) & set(bridge.files)


def test_what_is_unanswerable_has_no_such_component(by_application: dict[str, list[Observation]], composed: list[Query]):
    for query in composed:
        if query.category == "unanswerable":
            component = re.sub(r"^Why was the (.*) of \w+ rewritten\?$", r"\1", query.text)
            everything = by_application[query.id.split("-")[0]]
            assert not holding(component, everything)
            assert not holding(component.replace(" ", "_"), everything)


def test_a_shorter_memory_is_the_beginning_of_a_longer_one(large: Dataset):
    short = generate_webapp(sessions=100)
    for a, b in zip(short.observations, large.observations, strict=False):
        assert a == b or (a.superseded_by is None and b.superseded_by)
    assert {q.id for q in short.queries} < {q.id for q in large.queries}


@pytest.mark.parametrize(("sessions", "observations_per_session"), [(1, 1), (3, 8), (13, 7), (45, 12), (7, 96)])
def test_other_sizes_keep_their_labels(sessions: int, observations_per_session: int):
    dataset = generate_webapp(sessions, observations_per_session, seed=3)
    known = {o.id: o for o in dataset.observations}
    assert len(known) == sessions * observations_per_session
    assert {o.superseded_by for o in known.values()} - {None} <= set(known)
    last = max(o.timestamp for o in known.values())
    for query in dataset.queries:
        assert set(query.relevant) <= set(known)
        assert all(known[i].timestamp <= (query.asked_at or last) for i in query.relevant)


def test_streams_give_what_generate_gives():
    dataset = generate_webapp(sessions=70, seed=5)
    assert tuple(stream_observations(70, seed=5)) == dataset.observations
    assert tuple(stream_queries(70, seed=5)) == dataset.queries


def test_a_million_observations_can_be_streamed_in_the_memory_of_one_application():
    tracemalloc.start()
    for _ in islice(stream_observations(sessions=125_000), 300):
        pass
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[1]
    for _ in islice(stream_observations(sessions=125_000), 1_500):
        pass
    grown = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert grown < 2_000_000
