"""The BEIR layout, read and written."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.beir import load_beir, write_beir
from recallmeter.datasets.model import EPOCH, Observation, Query

HEADER = "query-id\tcorpus-id\tscore\n"


def lay(folder: Path, qrels: str, *, corpus: list[dict[str, object]] | None = None, queries: list[dict[str, object]] | None = None) -> str:
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(qrels, encoding="utf-8")
    corpus = corpus if corpus is not None else [{"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "text": "two", "metadata": {}}]
    queries = queries or [{"_id": "q1", "text": "first?"}, {"_id": "q2", "text": "second?"}]
    for name, records in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    return str(folder)


@pytest.mark.parametrize(
    "qrels", [HEADER + "q1\td1\t1\n", "q1\td1\t1\n", "q1 d1 1\n", "q1\t0\td1\t1\n", "\ufeff" + HEADER + "\r\nq1\td1\t1e0\r\n"]
)
def test_judgments_come_with_or_without_a_header(tmp_path: Path, qrels: str) -> None:
    loaded = load_beir(lay(tmp_path, qrels))
    assert [(query.id, query.text, dict(query.relevant)) for query in loaded.queries] == [("q1", "first?", {"d1": 1})]
    document = loaded.observations[0]
    assert (document.title, document.narrative, document.type, document.timestamp) == ("T", "one", "document", EPOCH)
    assert loaded.observations[1].title == ""


def test_every_file_may_be_gzip(tmp_path: Path) -> None:
    lay(tmp_path, HEADER + "q1\td2\t2\n")
    for path in (tmp_path / "corpus.jsonl", tmp_path / "queries.jsonl", tmp_path / "qrels" / "test.tsv"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    loaded = load_beir(str(tmp_path))
    assert len(loaded.observations) == 2
    assert loaded.queries[0].relevant == {"d2": 2}


def test_a_query_judged_below_one_alone_is_unanswerable_and_an_unjudged_one_is_of_another_split(tmp_path: Path) -> None:
    loaded = load_beir(lay(tmp_path, HEADER + "q2\td1\t0\n"))
    assert [(query.id, query.answerable) for query in loaded.queries] == [("q2", False)]


@pytest.mark.parametrize(
    ("qrels", "told"),
    [
        ("q1\td1\t0.5\n", "test.tsv:1: the grade '0.5' is not a whole number"),
        ("q1\td1\t1e300\n", "test.tsv:1: the grade '1e300' is not a whole number"),
        (HEADER + "q1\td1\t1\n" + HEADER, "test.tsv:3: the grade 'score' is not a whole number"),
        ("q1\td1\tnan\n", "test.tsv:1: the grade 'nan' is not a whole number"),
        ("q1\td1\t1_0\n", "test.tsv:1: the grade '1_0' is not a whole number"),
        (HEADER + "\nq1\td 1\t1\n", "test.tsv:3: the judged id 'd 1' has white space"),
        ("q1\td1\t1\nq1\td1\t2\n", "test.tsv:2: query 'q1', observation 'd1': grade 1 before, 2 here"),
        ("q1\td1\n", "test.tsv:1: a judgment has 3 or 4 columns, this line has 2"),
        ("q1\td1\t1\nq9\td1\t1\n", "test.tsv:2: the query 'q9' is judged but not among the queries"),
    ],
)
def test_faulty_judgments_are_refused_with_their_line(tmp_path: Path, qrels: str, told: str) -> None:
    with pytest.raises(InputError, match=r"; \w") as caught:
        load_beir(lay(tmp_path, qrels))
    assert told in str(caught.value)


def test_judgments_that_agree_count_once(tmp_path: Path) -> None:
    loaded = load_beir(lay(tmp_path, "q1\td1\t1\nq1\td1\t1.0\n"))
    assert loaded.queries[0].relevant == {"d1": 1}
    assert loaded.notes == ("duplicate-judgment 1; see `recallmeter data check`",)


def test_a_missing_split_tells_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no qrels/dev\.tsv .*there is test\.tsv"):
        load_beir(lay(tmp_path, "q1\td1\t1\n"), split="dev")


def test_scifact_loads_whole(shared: Path) -> None:
    loaded = load_beir(str(shared / "data" / "scifact"))
    assert (len(loaded.observations), len(loaded.queries), sum(len(query.relevant) for query in loaded.queries)) == (5183, 300, 339)


def test_what_is_written_is_read_back_with_its_labels(tmp_path: Path) -> None:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    observations = [
        Observation(
            id="o2",
            session_id="s",
            timestamp=when,
            type="decision",
            title="Title",
            subtitle="sub",
            narrative="body",
            facts=("fact",),
            concepts=("c",),
        ),
        Observation(id="o1", session_id="s", timestamp=when, type="decision", title="Other", files=("a.ts",)),
    ]
    queries = [Query(id="q1", text="why?", relevant={"o2": 2, "o1": 1}), Query(id="q2", text="nothing?")]
    write_beir(tmp_path, iter(observations), iter(queries))
    loaded = load_beir(str(tmp_path))
    assert [(o.id, o.title, o.narrative) for o in loaded.observations] == [("o2", "Title", "sub\nbody\nfact\nc"), ("o1", "Other", "a.ts")]
    assert [(query.id, dict(query.relevant)) for query in loaded.queries] == [("q1", {"o1": 1, "o2": 2}), ("q2", {})]


def test_scopes_cannot_be_written(tmp_path: Path) -> None:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    observations = [Observation(id=i, session_id="s", timestamp=when, type="t", title="x", scope=i) for i in ("a", "b")]
    with pytest.raises(InputError, match="the BEIR layout has no scopes"):
        write_beir(tmp_path, observations, [])
