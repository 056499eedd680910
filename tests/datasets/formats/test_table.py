"""Tables of one's own become a data set: columns told by name, ids as they were written, times with their zone."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.faults import Collected
from recallmeter.datasets.formats.table import load_table, read_table, tables_of
from recallmeter.datasets.model import EPOCH, Dataset

MEMORIES = [
    {"id": "001", "content": "Postgres, chosen\nfor its JSON", "created_at": "2026-03-01 09:30:00", "thread": "a"},
    {"id": "002", "content": 'said "never mind"', "created_at": "2026-03-02T09:30:00+02:00", "thread": "a"},
    {"id": "010", "content": "Ünïcödé 记忆", "created_at": "", "thread": "b"},
]
QUESTIONS = [
    {"qid": "q-1", "question": "which database?", "relevant": "001", "category": "fact", "asked_at": "2026-03-05"},
    {"qid": "q-2", "question": "what else?", "relevant": "002; 010", "category": "fact", "asked_at": ""},
    {"qid": "q-3", "question": "nothing?", "relevant": "", "category": "none", "asked_at": ""},
]


def written(folder: Path, kind: str) -> tuple[str, str]:
    """Write both tables in one kind of file."""
    paths = []
    for name, rows in (("memories", MEMORIES), ("questions", QUESTIONS)):
        path, frame = folder / f"{name}.{kind}", pd.DataFrame(rows)
        if kind.startswith("csv"):
            text = frame.to_csv(index=False)
            path.write_bytes(gzip.compress(text.encode()) if kind.endswith("gz") else b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
        elif kind == "tsv":
            frame.to_csv(path, index=False, sep="\t")
        elif kind == "json":
            path.write_text(json.dumps(rows))
        elif kind == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            frame.to_parquet(path)
        paths.append(str(path))
    return paths[0], paths[1]


def expected(dataset: Dataset, newline: str = "\n") -> None:
    first, second, third = dataset.observations
    assert [o.id for o in dataset.observations] == ["001", "002", "010"]
    assert first.narrative == f"Postgres, chosen{newline}for its JSON"
    assert second.narrative == 'said "never mind"'
    assert third.narrative == "Ünïcödé 记忆"
    assert [o.session_id for o in dataset.observations] == ["a", "a", "b"]
    assert [o.timestamp for o in dataset.observations] == [
        datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
        datetime(2026, 3, 2, 7, 30, tzinfo=UTC),
        EPOCH,
    ]
    assert [(q.id, dict(q.relevant), q.category) for q in dataset.queries] == [
        ("q-1", {"001": 1}, "fact"),
        ("q-2", {"002": 1, "010": 1}, "fact"),
        ("q-3", {}, "none"),
    ]
    assert [q.asked_at for q in dataset.queries] == [datetime(2026, 3, 5, tzinfo=UTC), None, None]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "json", "jsonl", "parquet"])
def test_every_kind_of_file_gives_the_same_data_set(kind: str, tmp_path: Path) -> None:
    memories, questions = written(tmp_path, kind)
    expected(load_table(memories, questions=questions), "\r\n" if kind == "csv" else "\n")


def test_frames_give_the_same_data_set() -> None:
    expected(Dataset.from_frames(pd.DataFrame(MEMORIES), pd.DataFrame(QUESTIONS)))


def test_a_database_gives_the_same_data_set(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "memory.db") as connection:
        pd.DataFrame(MEMORIES).to_sql("memories", connection, index=False)
        pd.DataFrame(QUESTIONS).to_sql("questions", connection, index=False)
    connection.close()
    address = f"sqlite:///{tmp_path / 'memory.db'}"
    expected(load_table(address, query="select * from memories", questions_query="select * from questions"))
    with pytest.raises(InputError, match=r"--query.*no such table"):
        load_table(address, query="select * from memoires")
    with pytest.raises(InputError, match="--query"):
        load_table(address, query="delete from memories")
    with pytest.raises(InputError, match="no such database"):
        load_table("sqlite:///nowhere.db", query="select 1")
    with pytest.raises(InputError, match="must be asked"):
        load_table(address)


@pytest.fixture
def tables(postgres: str) -> Iterator[str]:
    """The same memories and questions in PostgreSQL, in columns of its own types."""
    psycopg = pytest.importorskip("psycopg", reason="the extra sql is not installed")
    with psycopg.connect(postgres, autocommit=True) as session:
        session.execute("DROP TABLE IF EXISTS own_memories, own_questions")
        session.execute("CREATE TABLE own_memories (id text, content text, created_at timestamptz, thread text)")
        session.execute("CREATE TABLE own_questions (qid text, question text, relevant text[], category text, asked_at date)")
        for row in MEMORIES:
            moment = row["created_at"] and row["created_at"] + ("" if "+" in row["created_at"] else "+00")
            session.execute("INSERT INTO own_memories VALUES (%s, %s, %s, %s)", (row["id"], row["content"], moment or None, row["thread"]))
        for row in QUESTIONS:
            relevant = row["relevant"].split("; ") if row["relevant"] else []
            values = (row["qid"], row["question"], relevant, row["category"], row["asked_at"] or None)
            session.execute("INSERT INTO own_questions VALUES (%s, %s, %s, %s, %s)", values)
        yield postgres
        session.execute("DROP TABLE own_memories, own_questions")


@pytest.mark.integration
def test_a_postgres_gives_the_same_data_set(tables: str) -> None:
    asked = {"query": "select * from own_memories", "questions_query": "select * from own_questions"}
    expected(load_table(tables, **asked))
    expected(load_table(tables.replace("postgresql://", "postgresql+psycopg://", 1), **asked))
    with pytest.raises(InputError, match=r"--query.*own_memoires"):
        load_table(tables, query="select * from own_memoires")
    for changing in ("delete from own_memories returning *", "delete from own_memories"):
        with pytest.raises(InputError, match=r"--query.*read-only"):
            load_table(tables, query=changing)
    assert len(load_table(tables, **asked).observations) == len(MEMORIES)


@pytest.mark.integration
@pytest.mark.parametrize(
    "rest",
    [
        "me:hidden-word@127.0.0.1:9/db",
        "me:hidden-word@127.0.0.1:9/db?nonsense=hidden-word",
        "me:hidden-word@127.0.0.1:port/db",
        "me:hidden-word@[::1/db",
        "me:hidden-word%zz@127.0.0.1:9/db",
        "me@127.0.0.1:9/db?password=hidden-word%zz",
    ],
)
def test_a_postgres_that_is_not_there_is_told_without_its_password(rest: str) -> None:
    pytest.importorskip("psycopg", reason="the extra sql is not installed")
    with pytest.raises(InputError, match="can't be reached") as caught:
        load_table(f"postgresql://{rest}", query="select 1")
    assert "hidden-word" not in str(caught.value)


def small(memories: list[dict[str, Any]], questions: list[dict[str, Any]] | None = None, **settings: Any) -> Dataset:
    return Dataset.from_frames(pd.DataFrame(memories), pd.DataFrame(questions or [{"question": "what?"}]), **settings)


@pytest.mark.parametrize(
    ("cell", "relevant"),
    [
        ("a,b", {"a": 1, "b": 1}),
        ("a | b", {"a": 1, "b": 1}),
        ("a b", {"a": 1, "b": 1}),
        ('["a", "b"]', {"a": 1, "b": 1}),
        ("['a', 'b']", {"a": 1, "b": 1}),
        (["a", "b", "a"], {"a": 1, "b": 1}),
        ({"a": 2, "b": 1, "x,y": 0}, {"a": 2, "b": 1}),
        ('{"a": 3}', {"a": 3}),
        ("x,y", {"x,y": 1}),
        (None, {}),
        (float("nan"), {}),
    ],
)
def test_what_answers_a_question_is_written_in_many_ways(cell: Any, relevant: dict[str, int]) -> None:
    memories = [{"id": identifier, "text": "t"} for identifier in ("a", "b", "x,y")]
    dataset = small(memories, [{"question": "what?", "relevant": cell}])
    assert dict(dataset.queries[0].relevant) == relevant
    assert dataset.queries[0].id == "q1"


def test_ids_of_frames_are_text(caplog: pytest.LogCaptureFixture) -> None:
    numbers = small([{"id": 7, "text": "seven"}, {"id": 8, "text": "eight"}], [{"question": "?", "relevant": 7.0}])
    assert [o.id for o in numbers.observations] == ["7", "8"]
    assert dict(numbers.queries[0].relevant) == {"7": 1}


def test_judgments_may_be_a_table_of_their_own(tmp_path: Path) -> None:
    memories, questions = written(tmp_path, "csv")
    (tmp_path / "judged.csv").write_text("question_id,memory_id,grade\nq-1,002,2\nq-1,010,0\n")
    dataset = load_table(memories, questions=questions, relevant=str(tmp_path / "judged.csv"))
    assert dict(dataset.queries[0].relevant) == {"002": 2}  # and not 001, which the questions' own column names
    frame = pd.DataFrame({"qid": ["q1"], "doc_id": ["a"]})
    assert dict(small([{"id": "a", "text": "t"}], [{"question": "?"}], relevant=frame).queries[0].relevant) == {"a": 1}


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (1767225600, datetime(2026, 1, 1, tzinfo=UTC)),
        ("1767225600000", datetime(2026, 1, 1, tzinfo=UTC)),
        (pd.Timestamp("2026-01-01T00:00:00.123456789Z"), datetime(2026, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)),
        (pd.Timestamp("2026-01-01T01:00", tz="Europe/Paris"), datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01", datetime(2026, 1, 1, tzinfo=UTC)),
        (pd.NaT, EPOCH),
    ],
)
def test_times_are_read_as_they_are_written(value: Any, moment: datetime) -> None:
    assert small([{"id": "a", "text": "t", "time": value}]).observations[0].timestamp == moment


def test_a_time_without_a_zone_is_told_once() -> None:
    loaded = small([{"id": str(n), "text": "t", "time": "2026-01-01 10:00"} for n in range(3)])
    assert loaded.notes == ("time-without-zone 3; see `recallmeter data check`",)


def test_columns_are_named_where_their_names_say_nothing() -> None:
    rows = [{"nr": 1, "what": "x", "when": "2026-01-01T00:00Z", "text": "not this"}]
    observation = small(rows, columns={"id": "nr", "text": "what", "time": "when"}).observations[0]
    assert (observation.id, observation.narrative, observation.timestamp.year) == ("1", "x", 2026)


def test_a_scope_counts_where_both_tables_have_it() -> None:
    memories = [{"id": "a", "text": "t", "user_id": "u1"}]
    assert small(memories).observations[0].scope == ""
    both = small(memories, [{"question": "?", "user_id": "u1"}])
    assert (both.observations[0].scope, both.queries[0].scope) == ("u1", "u1")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda m, q: m.write_text("name,content\na,b\n"), "no column holds the id; name it with --id; there are name, content"),
        (lambda m, q: m.write_text("id,content\na\n"), "memories.csv:2: the header has 2 columns, this row has 1"),
        (lambda m, q: m.write_text('id,content\na,"b\n'), "close the quotes"),
        (lambda m, q: m.write_text("id,id\na,b\n"), "the column 'id' occurs twice"),
        (lambda m, q: m.write_text("id,text\na b,c\n"), "memories.csv:2: the observation id 'a b' has white space"),
        (lambda m, q: m.write_text("id,text,time\na,b,03/04/2026\n"), "memories.csv:2: '03/04/2026' is no time"),
        (lambda m, q: m.write_text('id,text\na,"x\n\ny"\na,c\n'), "memories.csv:5: the observation id 'a' occurs again"),
        (lambda m, q: m.write_text("id,text\na,\n"), "memories.csv:2: the memory has no text"),
        (lambda m, q: m.write_bytes(b"id,text\na,\xff\n"), "not UTF-8"),
        (lambda m, q: q.write_text("question,relevant\n,a\n"), "questions.csv:2: the question has no text"),
        (lambda m, q: q.write_text('question,relevant\nx,"{""a"": 1.5}"\n'), "questions.csv:2: the grade 1.5"),
        (lambda m, q: q.unlink(), "questions.csv: can't read the file"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(change: Callable[[Path, Path], Any], told: str, tmp_path: Path) -> None:
    memories, questions = map(Path, written(tmp_path, "csv"))
    change(memories, questions)
    with pytest.raises(InputError) as raised:
        load_table(str(memories), questions=str(questions))
    assert told in str(raised.value)


def test_a_check_goes_on_past_faulty_rows(tmp_path: Path) -> None:
    (tmp_path / "memories.csv").write_text("id;text;time\na;b;soon\nb;c;2026-01-01\n;d;\n")
    faults = Collected()
    kept = [placed.record.id for placed in read_table(tmp_path / "memories.csv", faults)]  # type: ignore[union-attr]
    assert kept == ["a", "b"]
    assert {name: finding.count for name, finding in faults.findings.items()} == {
        "bad-value": 1,
        "time-without-zone": 1,
        "missing-field": 1,
    }


def test_it_tells_what_it_understood(tmp_path: Path) -> None:
    memories, questions = written(tmp_path, "tsv")
    told = "\n".join(tables_of(memories, faults=Collected(), questions=questions).told())
    assert "3 rows; id, text from content, time from created_at, session from thread" in told
    assert "relevant='001'" in told
