"""Hostile files: whatever they hold, a loader refuses them as bad input, and a check goes through them."""

from __future__ import annotations

import contextlib
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recallmeter.datasets.checks.check import check
from recallmeter.datasets.errata import corrected
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.catalogue import detect, loader, reader
from recallmeter.datasets.model import Dataset

KEYS = {
    "jsonl": "id session_id timestamp type title narrative facts concepts importance scope superseded_by text relevant asked_at tags",
    "agentmemory": "id sessionId timestamp title facts importance query relevantObsIds category observations memories supersedes "
    "createdAt content",
    "beir": "_id title text metadata",
    "trec": "docno id text contents title",
    "longmemeval": "question_id question_type question question_date haystack_session_ids haystack_dates haystack_sessions "
    "answer_session_ids role content",
    "locomo": "sample_id conversation qa session_1 session_1_date_time speaker dia_id text question evidence category",
}
FILES = {
    "jsonl": ("observations.jsonl", "queries.jsonl", "dataset.json"),
    "agentmemory": ("observations.jsonl", "queries.jsonl"),
    "beir": ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"),
    "trec": ("documents.jsonl", "topics.tsv", "qrels.txt"),
    "longmemeval": ("file.json",),
    "locomo": ("file.json",),
}
GOOD = {
    "id": "o1",
    "_id": "d1",
    "docno": "d1",
    "timestamp": "2026-01-01T00:00:00Z",
    "createdAt": "2026-01-01T00:00:00Z",
    "question_date": "2023/05/30 (Tue) 21:56",
    "session_1_date_time": "1:00 pm on 1 May, 2023",
    "role": "user",
    "category": 1,
    "relevant": {"o1": 1},
}
SCALAR = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["", " ", "\0", "D1:1", "a b"])
)


def values(name: str) -> st.SearchStrategy[Any]:
    """JSON values whose objects have the keys of a format, often with a value that it expects."""
    key = st.sampled_from(KEYS[name].split()) | st.text(max_size=3)
    return st.recursive(
        SCALAR,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(key, inner, max_size=12).map(lambda d: {k: GOOD.get(k, v) for k, v in d.items()})
        ),
        max_leaves=25,
    )


def lines(name: str) -> st.SearchStrategy[bytes]:
    record = values(name).map(lambda value: json.dumps(value).encode("utf-8", "replace"))
    columns = st.lists(st.sampled_from(["q1", "d1", "0", "1", "0.5", "nan", "", "\0", "1e400", "<top>", "</top>", "<num>1"]), max_size=5)
    table = st.builds(lambda separator, row: separator.join(row).encode(), st.sampled_from(["\t", " "]), columns)
    return st.lists(record | table | st.binary(max_size=12), max_size=5).map(b"\n".join)


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_hostile_file_is_bad_input(name: str) -> None:
    whole = values(name).map(lambda value: json.dumps([value] if name in ("longmemeval", "locomo") else value).encode("utf-8", "replace"))

    @settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.lists(lines(name) | whole, min_size=len(FILES[name]), max_size=len(FILES[name])), st.booleans())
    def refuse(contents: list[bytes], alone: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for file, content in zip(FILES[name], contents, strict=True):
                (path := Path(folder) / file).parent.mkdir(exist_ok=True)
                path.write_bytes(content)
            source = Path(folder) / FILES[name][0] if len(FILES[name]) == 1 or (name == "agentmemory" and alone) else Path(folder)
            with contextlib.suppress(InputError):
                assert isinstance(loader(name)(str(source)), Dataset)
            with contextlib.suppress(InputError):
                detect(source)
            report = check(partial(reader(name), source), name="hostile")
            json.dumps(report.as_record())

    refuse()


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.binary(max_size=60) | values("jsonl").map(lambda value: json.dumps(value).encode("utf-8", "replace")),
    st.sampled_from(["json", "yaml"]),
)
def test_every_hostile_errata_file_is_bad_input(content: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"errata.{suffix}"
        path.write_bytes(content)
        with contextlib.suppress(InputError):
            corrected(Dataset("empty", (), ()), str(path))


@pytest.mark.parametrize("name", sorted(FILES))
@pytest.mark.parametrize("path", ["no/such/place", "nul\0byte", ".", "/dev/null", ""])
def test_every_hostile_path_is_bad_input(name: str, path: str) -> None:
    with pytest.raises(InputError):
        loader(name)(path)
