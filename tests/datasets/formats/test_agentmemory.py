"""agentmemory: the benchmark folder and the dump of a running store."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.agentmemory import load_agentmemory

OBSERVATION: dict[str, Any] = {
    "id": "obs_1",
    "sessionId": "ses_1",
    "timestamp": "2026-02-01T10:00:00.123Z",
    "type": "file_edit",
    "title": "Added rate limit",
    "facts": ["100 per minute"],
    "narrative": "Put a limiter before the API.",
    "concepts": ["rate-limit"],
    "files": ["src/limit.ts"],
    "importance": 7,
}
MEMORIES = [
    {
        "id": "mem_1",
        "createdAt": "2026-01-01T00:00:00Z",
        "type": "fact",
        "title": "Limit",
        "content": "60 per minute",
        "sessionIds": ["ses_0"],
    },
    {
        "id": "mem_2",
        "createdAt": "2026-02-01T00:00:00Z",
        "title": "Limit",
        "content": "100 per minute",
        "supersedes": ["mem_1"],
        "isLatest": True,
    },
]


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "observations.jsonl").write_text(json.dumps(OBSERVATION))
    queries = [
        {"query": "limits?", "category": "exact", "relevantObsIds": ["obs_1"], "description": "x"},
        {"query": "none?", "relevantObsIds": []},
    ]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    loaded = load_agentmemory(str(tmp_path))
    assert [(q.id, q.text, q.category, dict(q.relevant)) for q in loaded.queries] == [
        ("q01", "limits?", "exact", {"obs_1": 1}),
        ("q02", "none?", "", {}),
    ]
    o = loaded.observations[0]
    assert (o.session_id, o.facts, o.concepts, o.files, o.importance) == (
        "ses_1",
        ("100 per minute",),
        ("rate-limit",),
        ("src/limit.ts",),
        7,
    )
    assert o.timestamp == datetime(2026, 2, 1, 10, 0, 0, 123000, tzinfo=UTC)


def test_dump(tmp_path: Path) -> None:
    dump = tmp_path / "export.json"
    raw = {"id": "obs_2", "sessionId": "ses_1", "timestamp": "2026-02-01T10:05:00Z", "hookType": "stop"}
    dump.write_text(json.dumps({"version": "0.9.0", "sessions": [], "observations": {"ses_1": [OBSERVATION, raw]}, "memories": MEMORIES}))
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"query": "limit now?", "relevantObsIds": ["mem_2"]}))
    loaded = load_agentmemory(str(dump), queries=str(questions))
    assert loaded.name == "export"
    assert [(o.id, o.type, o.narrative, o.superseded_by) for o in loaded.observations] == [
        ("obs_1", "file_edit", "Put a limiter before the API.", None),
        ("obs_2", "other", "", None),
        ("mem_1", "fact", "60 per minute", "mem_2"),
        ("mem_2", "memory", "100 per minute", None),
    ]
    assert loaded.queries[0].relevant == {"mem_2": 1}
    assert load_agentmemory(str(dump)).queries == ()


@pytest.mark.parametrize(
    ("dump", "told"),
    [
        ([], "export.json: a dump is an object whose field 'observations'"),
        ({}, "export.json: a dump is an object whose field 'observations'"),
        ({"observations": []}, "a dump is an object whose field 'observations'"),
        ({"observations": {"s": {}}}, "export.json: session s: a list of records is needed"),
        ({"observations": {"s": [1]}}, "export.json: session s, record 1: a record is an object"),
        ({"observations": {"s": [{**OBSERVATION, "importance": "high"}]}}, "session s, record 1: the field 'importance' is 'high'"),
        ({"observations": {}, "memories": [{"id": "m", "supersedes": 3}]}, "memories, record 1: the field"),
        ({"observations": {}, "memories": [{**MEMORIES[0], "supersedes": [{}]}]}, "memories, record 1: the field 'supersedes'"),
        ({"observations": {}, "memories": 3}, "memories: a list of records is needed"),
    ],
)
def test_faults_are_named(tmp_path: Path, dump: Any, told: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(dump))
    with pytest.raises(InputError) as caught:
        load_agentmemory(str(path))
    assert told in str(caught.value)


def test_the_reference_loads_whole(shared: Path) -> None:
    loaded = load_agentmemory(str(shared / "reference" / "agentmemory-240"))
    assert (len(loaded.observations), len(loaded.queries), sum(len(query.relevant) for query in loaded.queries)) == (240, 20, 335)
    assert (loaded.queries[0].id, loaded.queries[-1].id) == ("q01", "q20")
