"""LongMemEval: every question has a history of its own, and gold comes from the labels alone."""

from __future__ import annotations

import copy
import gzip
import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from recallmeter.datasets.checks.check import check
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.longmemeval import load_longmemeval, read_longmemeval

INSTANCE: dict[str, Any] = {
    "question_id": "q_7",
    "question_type": "multi-session",
    "question": "Which bread?",
    "answer": "rye",
    "question_date": "2023/05/30 (Tue) 21:56",
    "haystack_session_ids": ["answer_decoy", "plain_1"],
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/24 (Wed) 03:21"],
    "haystack_sessions": [
        [{"role": "user", "content": "I like wheat"}, {"role": "assistant", "content": "Noted", "has_answer": False}],
        [{"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Rye now", "has_answer": True}],
    ],
    "answer_session_ids": ["plain_1"],
}


def changed(**values: Any) -> dict[str, Any]:
    return {**copy.deepcopy(INSTANCE), **values}


def file(tmp_path: Path, *instances: Any) -> str:
    path = tmp_path / "lme.json"
    path.write_text(json.dumps(instances, indent=1))
    return str(path)


def findings(path: str, **options: Any) -> dict[str, int]:
    report = check(lambda faults: read_longmemeval(Path(path), faults, **options), name="lme")
    return {finding.kind.name: finding.count for finding in report.findings}


def test_sessions(tmp_path: Path) -> None:
    loaded = load_longmemeval(file(tmp_path, INSTANCE))
    query = loaded.queries[0]
    assert (query.id, query.scope, query.category, dict(query.relevant)) == ("q_7", "q_7", "multi-session", {"q_7/plain_1": 1})
    assert query.asked_at == datetime(2023, 5, 30, 21, 56, tzinfo=UTC)
    first = loaded.observations[0]
    assert (first.id, first.session_id, first.scope, first.narrative) == (
        "q_7/answer_decoy",
        "q_7/answer_decoy",
        "q_7",
        "I like wheat\nNoted",
    )
    assert first.timestamp == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)


def test_turns(tmp_path: Path) -> None:
    loaded = load_longmemeval(file(tmp_path, INSTANCE), granularity="turn")
    assert [(o.id, o.type, o.narrative) for o in loaded.observations][2:] == [
        ("q_7/plain_1/0", "assistant", "Hello"),
        ("q_7/plain_1/1", "user", "Rye now"),
    ]
    assert loaded.queries[0].relevant == {"q_7/plain_1/1": 1}


def test_only_the_user_may_be_remembered(tmp_path: Path) -> None:
    path = file(tmp_path, INSTANCE)
    assert [o.narrative for o in load_longmemeval(path, roles=["user"]).observations] == ["I like wheat", "Rye now"]
    assert [o.id for o in load_longmemeval(path, "turn", ["user"]).observations] == ["q_7/answer_decoy/0", "q_7/plain_1/1"]


def test_abstention_is_unanswerable(tmp_path: Path) -> None:
    assert not load_longmemeval(file(tmp_path, changed(question_id="q_7_abs"))).queries[0].answerable


def test_an_answer_outside_the_history_leaves_the_question_answerable(tmp_path: Path) -> None:
    path = file(tmp_path, changed(answer_session_ids=["plain_1", "gone"]))
    assert load_longmemeval(path).queries[0].relevant == {"q_7/plain_1": 1, "q_7/gone": 1}
    found = findings(path)
    assert found["dangling-judgment"] == 1
    assert "duplicate-judgment" not in found


def test_a_session_id_that_occurs_twice_is_kept_apart_and_reported(tmp_path: Path) -> None:
    instance = changed(haystack_session_ids=["plain_1", "plain_1"])
    path = file(tmp_path, instance)
    loaded = load_longmemeval(path)
    assert [o.id for o in loaded.observations] == ["q_7/plain_1", "q_7/plain_1~2"]
    assert loaded.queries[0].relevant == {"q_7/plain_1": 1, "q_7/plain_1~2": 1}
    assert "repeated-session 1" in loaded.notes[0]
    assert findings(path)["repeated-session"] == 1


def test_labels_that_disagree_are_reported(tmp_path: Path) -> None:
    moved = changed(answer_session_ids=["answer_decoy"])
    found = findings(file(tmp_path, moved), granularity="turn")
    assert (found["answer-session-without-turn"], found["turn-outside-answer-sessions"]) == (1, 1)


def test_a_question_without_a_marked_turn_is_answerable_and_out_of_reach(tmp_path: Path) -> None:
    unmarked = changed()
    del unmarked["haystack_sessions"][1][1]["has_answer"]
    path = file(tmp_path, unmarked)
    assert load_longmemeval(path, granularity="turn").queries[0].relevant == {"q_7/plain_1": 1}
    found = findings(path, granularity="turn")
    assert (found["answer-session-without-turn"], found["dangling-judgment"]) == (1, 1)


def test_the_same_session_in_two_histories_is_two_observations(tmp_path: Path) -> None:
    loaded = load_longmemeval(file(tmp_path, INSTANCE, changed(question_id="q_8")))
    assert {o.scope for o in loaded.observations} == {"q_7", "q_8"}
    assert len(loaded.observations) == 4


@pytest.mark.parametrize(
    ("instance", "told"),
    [
        (changed(question_date="30 May 2023"), "lme.json[2]: the field 'question_date' is '30 May 2023': a date such as"),
        (changed(question_date="2023/02/31 (Tue) 21:56"), "the field 'question_date'"),
        (changed(haystack_dates=[]), "question q_7: haystack_session_ids, haystack_dates and haystack_sessions differ in length"),
        (changed(haystack_sessions=[[{"role": "robot", "content": "x"}], []]), "each turn needs a role, user or assistant"),
        (changed(haystack_sessions=[["x"], []]), "each turn needs a role"),
        (changed(answer_session_ids="plain_1"), "the field 'answer_session_ids' is 'plain_1': a list of strings is needed"),
        (changed(haystack_session_ids=["a b", "plain_1"]), "question q_7, session 1: the observation id 'q_7/a b' has white space"),
        ({"question_id": "q_9"}, "lme.json[2]: the field 'answer_session_ids' is missing"),
        (3, "lme.json[2]: a JSON object is needed where '3' is"),
    ],
)
def test_faults_are_named(tmp_path: Path, instance: Any, told: str) -> None:
    with pytest.raises(InputError) as caught:
        load_longmemeval(file(tmp_path, changed(question_id="q_1"), instance))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"granularity": "word"}, "use session or turn"),
        ({"roles": "user"}, "use \\[user\\]"),
        ({"roles": ["me"]}, "use \\[user\\]"),
        ({"roles": []}, "use"),
    ],
)
def test_unknown_options_are_refused(tmp_path: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        load_longmemeval(file(tmp_path, INSTANCE), **options)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[",
        "[{]",
        '[{"a": 1} {"b": 2}]',
        '[{"a": 1},',
        '[{"a": "x',
        '[{"a": NaN}]',
        "[" + '{"a":' * 100_000,
        "\ufeff3",
        '[{"a": 1}',
        "[] []",
    ],
)
def test_broken_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        load_longmemeval(str(path))


@pytest.mark.parametrize("size", range(1, 12))
def test_reading_in_pieces_of_any_size_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    path = file(tmp_path, INSTANCE, changed(question_id="q_8", question='Was it "rye"\n or é?'))
    whole = load_longmemeval(path)
    monkeypatch.setattr("recallmeter.datasets.reading._CHUNK", size)
    assert load_longmemeval(path) == whole


def test_elements_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    long = "é" * 1_500_000
    instances = [changed(question_id=f"q_{n}", haystack_sessions=[[{"role": "user", "content": long}], []]) for n in range(3)]
    path = tmp_path / "long.json.gz"
    path.write_bytes(gzip.compress(json.dumps(instances, ensure_ascii=False).encode(), 1))
    loaded = load_longmemeval(str(path))
    assert loaded.name == "long"
    assert [len(o.narrative) for o in loaded.observations] == [1_500_000, 0] * 3


@pytest.mark.parametrize(
    ("granularity", "observations", "roles"),
    [("session", 120, ("user", "assistant")), ("turn", 1218, ("user", "assistant")), ("turn", 606, ("user",))],
)
def test_official_instances_load(shared: Path, granularity: str, observations: int, roles: tuple[str, ...]) -> None:
    path = shared / "data" / "longmemeval-3" / "longmemeval_s_3.json"
    loaded = load_longmemeval(str(path), granularity, roles)
    assert len(loaded.observations) == observations
    assert {query.scope for query in loaded.queries} == {o.scope for o in loaded.observations} == {"852ce960", "ba358f49", "6a1eabeb"}
    assert [len(query.relevant) for query in loaded.queries] == [2, 2, 2]
    report = check(partial(read_longmemeval, path, granularity=granularity, roles=roles), name="lme")
    assert not report.failed
    assert report.measures["recall@5"] == 1
    assert "id-tells-relevance" in {finding.kind.name for finding in report.findings}
