"""Errata: corrections laid over labels, and marks for what is disputed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from recallmeter.datasets.errata import corrected
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Dataset, Observation, Query


@pytest.fixture
def dataset() -> Dataset:
    observations = tuple(
        Observation(id=i, session_id="s", timestamp=datetime(2026, 1, 1, tzinfo=UTC), type="t", title=i) for i in ("a", "b")
    )
    queries = (
        Query(id="q1", text="?", relevant={"a": 1}, tags=("core",)),
        Query(id="q2", text="?", relevant={"gone": 1}),
        Query(id="q3", text="?"),
    )
    return Dataset("d", observations, queries)


def test_corrections_and_disputes_are_laid_over(tmp_path: Path, dataset: Dataset) -> None:
    path = tmp_path / "errata.yaml"
    path.write_text("q1: {relevant: {b: 2, a: 0}, note: the later one}\nq2: {disputed: true}\n")
    queries = corrected(dataset, str(path)).queries
    assert [(query.id, dict(query.relevant), query.tags) for query in queries] == [
        ("q1", {"b": 2}, ("core", "corrected")),
        ("q2", {"gone": 1}, ("disputed",)),
        ("q3", {}, ()),
    ]


def test_without_a_file_nothing_changes_and_json_is_read_too(tmp_path: Path, dataset: Dataset) -> None:
    assert corrected(dataset, None) is dataset
    path = tmp_path / "errata.json"
    path.write_text('{"q1": {"relevant": {}, "disputed": true}}')
    query = corrected(dataset, str(path)).queries[0]
    assert (dict(query.relevant), query.tags) == ({}, ("core", "corrected", "disputed"))


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ({"q9": {"disputed": True}}, "query q9: the data set has no such query"),
        ({"q1": {"relevant": {"c": 1}}}, "query q1: the data set has no observation 'c'"),
        ({"q1": {"relevant": ["a"]}}, "relevant is {id: grade}"),
        ({"q1": {"relevant": {"a": 0.5}}}, "query q1: the grade 0.5 is not a whole number"),
        ({"q1": {"disputed": "yes"}}, "disputed is true or false"),
        ({"q1": {"note": "hm"}}, "an entry has relevant"),
        ({"q1": {"relevnt": {}}}, "an entry has relevant"),
        ({"q1": None}, "an entry has relevant"),
        ([], "maps query ids"),
    ],
)
def test_faults_are_named(tmp_path: Path, dataset: Dataset, entries: Any, told: str) -> None:
    path = tmp_path / "errata.json"
    path.write_text(json.dumps(entries))
    with pytest.raises(InputError) as caught:
        corrected(dataset, str(path))
    assert told in str(caught.value)


@pytest.mark.parametrize("text", ["q1: {", "1: {disputed: true}", "q1: !!python/object:os.system {}", "\x00"])
def test_broken_yaml_is_refused(tmp_path: Path, dataset: Dataset, text: str) -> None:
    path = tmp_path / "errata.yml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"errata\.yml"):
        corrected(dataset, str(path))
