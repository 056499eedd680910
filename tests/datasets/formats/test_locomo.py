"""LoCoMo: what is clear of its hand-written evidence is read, and every departure is counted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from recallmeter.datasets.checks.check import check
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.locomo import CATEGORIES, load_locomo, read_locomo

SAMPLE = Path(__file__).parents[2] / "data" / "locomo_sample.json"


def test_turns_are_observations_of_their_conversation() -> None:
    loaded = load_locomo(str(SAMPLE))
    assert [sum(o.scope == scope for o in loaded.observations) for scope in ("conv-otter-heron", "conv-fox-owl")] == [8, 4]
    turn = loaded.observations[2]
    assert (turn.id, turn.session_id, turn.title, turn.narrative) == (
        "conv-otter-heron/D1:3",
        "conv-otter-heron/session_1",
        "",
        "Otter: Look at the seedlings. [shared image: a photo of six seedlings in a wooden tray]",
    )
    assert turn.timestamp == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert loaded.observations[3].timestamp == datetime(2023, 9, 13, 0, 9, tzinfo=UTC)  # 12:09 am
    assert loaded.observations[5].timestamp == datetime(2023, 10, 1, 12, 30, tzinfo=UTC)  # 12:30 pm


def test_gold_and_categories() -> None:
    gold = {query.id: (query.category, sorted(query.relevant)) for query in load_locomo(str(SAMPLE)).queries}
    one, two = "conv-otter-heron", "conv-fox-owl"
    assert gold == {
        f"{one}/q001": ("multi-hop", [f"{one}/D8:1", f"{one}/D9:1"]),
        f"{one}/q002": ("temporal", [f"{one}/D1:1"]),
        f"{one}/q003": ("open-domain", [f"{one}/unreadable:D"]),
        f"{one}/q004": ("single-hop", [f"{one}/D11:1"]),
        f"{one}/q005": ("single-hop", [f"{one}/D11:2"]),
        f"{one}/q006": ("adversarial", []),
        f"{two}/q001": ("single-hop", [f"{two}/D30:5"]),
        f"{two}/q002": ("multi-hop", [f"{two}/D1:1", f"{two}/D1:2"]),
        f"{two}/q003": ("open-domain", [f"{two}/no-evidence"]),
        f"{two}/q004": ("single-hop", [f"{two}/D1:99"]),
        f"{two}/q005": ("adversarial", []),
    }
    assert list(CATEGORIES) == [1, 2, 3, 4, 5]


def test_adversarial_questions_are_answerable_when_asked(tmp_path: Path) -> None:
    asked = {query.id: query for query in load_locomo(str(SAMPLE), adversarial="answerable").queries}
    told = {query.id: query for query in load_locomo(str(SAMPLE)).queries}
    changed = {identifier for identifier in asked if asked[identifier] != told[identifier]}
    assert changed
    assert {asked[identifier].category for identifier in changed} == {"adversarial"}
    assert all(asked[identifier].relevant for identifier in changed)
    with pytest.raises(InputError, match="answerable"):
        load_locomo(str(SAMPLE), adversarial="maybe")


def test_every_departure_is_counted() -> None:
    report = check(partial(read_locomo, SAMPLE), name="sample")
    counts = {finding.kind.name: finding.count for finding in report.findings}
    assert {name: count for name, count in counts.items() if name.startswith("evidence")} == {
        "evidence-extra-colon": 1,
        "evidence-missing": 1,
        "evidence-several-in-one": 2,
        "evidence-unreadable": 1,
        "evidence-zero-padded": 2,
    }
    assert (counts["dangling-judgment"], counts["unanswerable"], counts["field-not-read"]) == (3, 2, 2)
    assert report.measures["recall@10"] == pytest.approx(6 / 9)
    places = {example.where for finding in report.findings for example in finding.examples}
    assert f"{SAMPLE}: conv-fox-owl, question 2" in places


def test_a_loader_tells_in_one_line_what_it_had_to_mend() -> None:
    (note,) = load_locomo(str(SAMPLE)).notes
    assert "evidence-several-in-one 2, evidence-unreadable 1" in note


def sample(**conversation: Any) -> list[Any]:
    turns = [{"speaker": "Otter", "dia_id": "D1:01", "text": "Hi"}]
    whole = {"speaker_a": "Otter", "session_1_date_time": "1:00 pm on 1 May, 2023", "session_1": turns, **conversation}
    return [{"sample_id": "c", "conversation": whole, "qa": [{"question": "?", "evidence": "D1:01", "category": 4}]}]


def written(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(content))
    return str(path)


def test_an_id_as_the_conversation_writes_it_is_no_departure(tmp_path: Path) -> None:
    assert load_locomo(written(tmp_path, sample())).queries[0].relevant == {"c/D1:01": 1}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (sample(session_1_date_time="May 2023"), "c, session_1_date_time: the field 'date' is 'May 2023': a date such as"),
        (sample(session_1_date_time="1:00 pm on 31 June, 2023"), "c, session_1_date_time: the field 'date'"),
        (sample(session_1={}), "c, session_1: a session is a list of turns"),
        (sample(session_1=["x"]), "c, session_1, turn 1: a turn is an object"),
        (sample(session_1=[{"speaker": "A", "text": "x"}]), "c, session_1, turn 1: the field 'dia_id' is missing"),
        ([{"sample_id": "c", "conversation": [], "qa": []}], "locomo.json[1]: the field 'conversation' is []: an object of sessions"),
        ([{"sample_id": "c", "conversation": {}, "qa": [3]}], "c, question 1: a question is an object"),
        (
            [{"sample_id": "c", "conversation": {}, "qa": [{"question": "?", "category": 6}]}],
            "the field 'category' is 6: a category is 1 to 5",
        ),
        (
            [{"sample_id": "c", "conversation": {}, "qa": [{"question": "?", "category": 1, "evidence": [1]}]}],
            "the field 'evidence' is [1]",
        ),
        ([{"sample_id": "a b", "conversation": {}, "qa": [{"question": "?", "category": 1}]}], "has white space"),
        ({"sample_id": "c"}, "a JSON array is needed"),
    ],
)
def test_faults_are_named(tmp_path: Path, content: Any, told: str) -> None:
    with pytest.raises(InputError) as caught:
        load_locomo(written(tmp_path, content))
    assert told in str(caught.value)
