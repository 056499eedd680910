"""Judgments in files of their own, in JSON; the tables are tested with the BEIR layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.faults import Collected, Refused
from recallmeter.datasets.formats.qrels import read_qrels


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "qrels.json"
    path.write_text('\ufeff{"q1": {"a": 2, "b": 0}, "q2": {}}', encoding="utf-8")
    assert [tuple(record) for _, record in read_qrels(path, Refused())] == [("q1", "a", 2), ("q1", "b", 0)]


def test_a_key_twice_is_seen_and_not_swallowed(tmp_path: Path) -> None:
    path = tmp_path / "qrels.json"
    path.write_text('{"q1": {"a": 1, "a": 2}, "q1": {"b": 1}}')
    with pytest.raises(InputError, match="the key 'q1' occurs twice"):
        list(read_qrels(path, Refused()))
    faults = Collected()
    assert [tuple(record) for _, record in read_qrels(path, faults)] == [("q1", "a", 1), ("q1", "a", 2), ("q1", "b", 1)]
    assert faults.findings.keys() == {"repeated-key"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "qrels.json: judgments in JSON are an object of queries"),
        ('{"q1": ["a"]}', "qrels.json: query q1: its judgments are not an object of ids and grades"),
        ('{"q1": {"a": "x"}}', "qrels.json: query q1: the grade 'x' is not a whole number"),
        ('{"q 1": {"a": 1}}', "the query id 'q 1' has white space"),
        ("null", "qrels.json: the file holds null alone"),
        ("{", "not valid JSON"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "qrels.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        list(read_qrels(path, Refused()))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("q1 0 a 1\nq1 0b 1\n", ":2"),
        ("q1\ta\t1\nq1\t0\tb\t1\n", ":2"),
        ("query-id corpus-id score\nq1 0 a 1\nq1 b 1\n", ":3"),
        ("q1 0 a 1\n\n0 b 1\n", ":3"),
    ],
)
def test_a_line_of_other_columns_is_not_read_as_another_id(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "qrels"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"qrels{place}: this line has \d columns, the ones before have \d"):
        list(read_qrels(path, Refused()))
