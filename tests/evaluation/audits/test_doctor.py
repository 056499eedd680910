"""The doctor passes what is sound and names what leaks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.audits import doctor
from recallmeter.evaluation.audits.doctor import disguised, examine
from recallmeter.evaluation.loop import Protocol
from recallmeter.retrieval.ranking import Ranking

START = datetime(2026, 1, 1, tzinfo=UTC)
PROTOCOL = Protocol(k=20, repeats=2)


def sample(name: str = "o", seed: int = 0) -> Dataset:
    """Two scopes of sixty observations, and forty queries that each share a word with what answers them."""
    random = np.random.default_rng(seed)
    names = [f"{name}{number:03}" for number in random.permutation(120)]
    observations = tuple(
        Observation(
            id=identifier,
            session_id=f"s{place // 6}",
            timestamp=START + timedelta(hours=place),
            type="note",
            title=f"word{place % 40}",
            scope="ab"[place % 2],
        )
        for place, identifier in enumerate(names)
    )
    queries = [
        Query(
            id=f"q{word:02}",
            text=f"word{word}",
            scope="ab"[word % 2],
            relevant={names[place]: 1 + (place > 60) for place in (word, word + 40)},
            asked_at=START + timedelta(hours=110) if word % 5 == 0 else None,
        )
        for word in range(40)
    ]
    return Dataset("sample", observations, (*queries, Query(id="q99", text="none", scope="a")))


class Words:
    """A retriever that finds equal titles, ties by id."""

    def index(self, observations):
        self.observations = sorted(observations, key=lambda o: o.id)

    def search(self, query, k, *, scope="", asked_at=None):
        found = [o for o in self.observations if o.scope == scope and o.title == query and (asked_at is None or o.timestamp <= asked_at)]
        return Ranking.of([(o.id, 1.0) for o in found[:k]])


def failures(dataset=None, **systems):
    return {check.name: check for check in examine(dataset or sample(), systems, PROTOCOL) if not check.passed}


def test_a_sound_data_set_and_system_pass_every_check():
    checks = list(examine(sample(), {"words": Words}, PROTOCOL))
    assert [check.name for check in checks if not check.passed] == []
    assert [check.name for check in checks] == [
        "control oracle",
        "control reversed",
        "control constant",
        "control empty",
        "control random recall@5",
        "control random recall@10",
        "labels: ids tell nothing",
        "labels: not in the order of ids",
        "words: answers",
        "words: keeps its contract",
        "words: blind to ids and order",
    ]


def test_random_is_expected_at_k_over_n_of_what_is_within_reach():
    check = next(check for check in examine(sample(), {}, PROTOCOL) if check.name == "control random recall@10")
    # 32 queries see the 60 observations of their scope; 8 are asked when 56 of the one or 55 of the other existed
    assert check.expected.startswith(f"k/N: {100 * (32 * 10 / 60 + 4 * 10 / 56 + 4 * 10 / 55) / 40:.2f} ±")


def test_a_measure_that_errs_is_found_by_the_controls(monkeypatch):
    right = doctor.score

    def wrong(*arguments):
        scores = right(*arguments)
        return replace(scores, values={name: values * 0.9 for name, values in scores.values.items()})

    monkeypatch.setattr(doctor, "score", wrong)
    assert {"control oracle", "control constant"} <= set(failures())


def test_labels_that_follow_the_order_of_ids_are_found():
    data = sample()
    first = sorted(o.id for o in data.observations if o.scope == "a")[:3]
    skewed = Dataset("skewed", data.observations, tuple(replace(q, scope="a", relevant=dict.fromkeys(first, 1)) for q in data.queries))
    assert set(failures(skewed)) == {"labels: not in the order of ids"}


def test_ids_that_tell_what_is_relevant_are_found():
    data = sample()
    told = {i for query in data.queries for i in query.relevant}
    names = {o.id: f"{o.id}_{'answer' if o.id in told else 'other'}" for o in data.observations}
    leaky = Dataset(
        "leaky",
        tuple(replace(o, id=names[o.id]) for o in data.observations),
        tuple(replace(q, relevant={names[i]: grade for i, grade in q.relevant.items()}) for q in data.queries),
    )
    found = failures(leaky)
    assert set(found) == {"labels: ids tell nothing"}
    assert "'answer'" in found["labels: ids tell nothing"].found


class ReadsIds(Words):
    """Prefers what its id says."""

    def search(self, query, k, *, scope="", asked_at=None):
        hits = super().search(query, k, scope=scope, asked_at=asked_at).hits
        return Ranking.of(sorted(((hit.id, float("o" in hit.id)) for hit in hits if "o" in hit.id), key=lambda pair: -pair[1]))


class ReadsSessions(Words):
    def index(self, observations):
        super().index([o for o in observations if o.session_id.startswith("s")])


class DependsOnOrder(Words):
    def index(self, observations):
        super().index(observations[: len(observations) // 2])


@pytest.mark.parametrize("system", [ReadsIds, ReadsSessions, DependsOnOrder])
def test_a_system_that_reads_ids_or_depends_on_the_order_is_found(system):
    found = failures(leaky=system)
    assert list(found) == ["leaky: blind to ids and order"]
    assert "queries changed beyond ties, such as q0" in found["leaky: blind to ids and order"].found


class TiesByOrder(Words):
    """Breaks ties by the order in which it was fed, which is allowed: no value depends on it beyond ties."""

    def index(self, observations):
        self.observations = list(observations)


def test_ties_broken_by_the_order_are_no_leak():
    assert failures(ties=TiesByOrder) == {}


class Sloppy(Words):
    def search(self, query, k, *, scope="", asked_at=None):
        return Ranking.of([("nowhere", 2.0), *super().search(query, k, scope=scope).hits])


class Unstable(Words):
    calls = 0

    def search(self, query, k, *, scope="", asked_at=None):
        Unstable.calls += 1
        return Ranking.of([(o.id, float(Unstable.calls)) for o in self.observations if o.scope == scope][:k])


def test_a_breach_of_contract_is_named_and_counted():
    found = failures(sloppy=Sloppy)
    assert list(found) == ["sloppy: keeps its contract"]
    assert found["sloppy: keeps its contract"].found.endswith("unknown id (41 queries)")


def test_answers_that_differ_from_call_to_call_fail():
    assert "two searches for one query gave different answers" in failures(unstable=Unstable)["unstable: answers"].found


def test_the_disguise_keeps_everything_but_names_and_order():
    data = sample()
    other, names = disguised(data, seed=3)
    assert [names[o.id] for o in other.observations] != [o.id for o in data.observations]
    back = {names[o.id]: o for o in other.observations}
    assert [names[i] for i in sorted(o.id for o in other.observations)] == sorted(o.id for o in data.observations)
    for observation in data.observations:
        assert replace(back[observation.id], id=observation.id, session_id=observation.session_id) == observation
    sessions = {(observation.session_id, back[observation.id].session_id) for observation in data.observations}
    assert len(sessions) == len({old for old, _ in sessions})
    for before, after in zip(data.queries, other.queries, strict=True):
        assert {names[i]: grade for i, grade in after.relevant.items()} == before.relevant
