"""Our own JSONL: what goes in comes out, and every fault is one line with its place."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.beir import load_beir, write_beir
from recallmeter.datasets.formats.jsonl import load_jsonl, write_jsonl
from recallmeter.datasets.model import Dataset, Observation, Query

OBSERVATION = {"id": "o1", "session_id": "s1", "timestamp": "2026-01-05T09:15:00Z", "type": "decision", "title": "Use npm workspaces"}
QUERY = {"id": "q1", "text": "Which package manager?", "relevant": {"o1": 2}}


def folder(tmp_path: Path, observations: list[object], queries: list[object], description: dict[str, object] | None = None) -> str:
    for name, lines in (("observations.jsonl", observations), ("queries.jsonl", queries)):
        text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        (tmp_path / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    if description is not None:
        (tmp_path / "dataset.json").write_text(json.dumps(description))
    return str(tmp_path)


def refusal(tmp_path: Path, observations: list[object], queries: list[object], **rest: dict[str, object]) -> str:
    with pytest.raises(InputError) as caught:
        load_jsonl(folder(tmp_path, observations, queries, **rest))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    return str(caught.value)


@pytest.fixture
def dataset() -> Dataset:
    observations = (
        Observation(
            id="o2",
            session_id="s1",
            timestamp=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
            type="incident",
            title="“Quotes”, 引号, \u2028 and 😀",
            facts=("a\tb", "c\nd"),
            concepts=("cache",),
            files=("src/app.ts",),
            importance=9,
            scope="x",
            superseded_by="o1",
        ),
        Observation(id="o1", session_id="s2", timestamp=datetime(2026, 2, 1, tzinfo=UTC), type="decision", title="", scope="x"),
    )
    queries = (
        Query(
            id="q2",
            text="Why?",
            category="exact",
            relevant={"o2": 2, "o1": 1},
            scope="x",
            asked_at=datetime(2026, 3, 1, tzinfo=UTC),
            tags=("core",),
        ),
        Query(id="q1", text="Nothing answers this", scope="x"),
    )
    return Dataset("notes", observations, queries, licence="CC0-1.0")


def test_what_is_written_is_read_back(tmp_path: Path, dataset: Dataset) -> None:
    write_jsonl(tmp_path, dataset.name, iter(dataset.observations), iter(dataset.queries), dataset.licence)
    again = load_jsonl(str(tmp_path))
    assert again == dataset
    described = json.loads((tmp_path / "dataset.json").read_text())
    assert described == {"name": "notes", "licence": "CC0-1.0", "fingerprint": dataset.fingerprint, "observations": 2, "queries": 2}


def test_defaults_may_be_left_out(tmp_path: Path) -> None:
    loaded = load_jsonl(folder(tmp_path, [OBSERVATION], [QUERY]))
    assert loaded.name == tmp_path.name
    assert loaded.observations == (Observation(**{**OBSERVATION, "timestamp": datetime(2026, 1, 5, 9, 15, tzinfo=UTC)}),)
    assert loaded.queries[0].relevant == {"o1": 2}


def test_byte_order_mark_crlf_blank_lines_and_gzip_are_accepted(tmp_path: Path) -> None:
    text = "\n\r\n".join(json.dumps({**OBSERVATION, "id": identifier}) for identifier in ("o1", "o2"))
    (tmp_path / "observations.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n   \n")
    (tmp_path / "queries.jsonl").write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(QUERY).encode()))
    loaded = load_jsonl(str(tmp_path))
    assert [o.id for o in loaded.observations] == ["o1", "o2"]
    assert loaded.queries[0].relevant == {"o1": 2}


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    told = refusal(tmp_path, [OBSERVATION, '{"id": "o2",'], [QUERY])
    assert told.startswith(f"{tmp_path}/observations.jsonl:2: not valid JSON")


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({**OBSERVATION, "concept": ["x"]}, "the field 'concept' is not one of id, session_id"),
        ({key: value for key, value in OBSERVATION.items() if key != "type"}, "the field 'type' is missing"),
        ({**OBSERVATION, "facts": "x"}, "the field 'facts' is 'x': a list of strings is needed"),
        ({**OBSERVATION, "importance": True}, "the field 'importance' is True: a whole number is needed"),
        ({**OBSERVATION, "importance": 11}, "importance 11 is not in 1–10"),
        ({**OBSERVATION, "timestamp": "yesterday"}, "a time in ISO 8601 with its zone is needed"),
        ({**OBSERVATION, "timestamp": "2026-01-05T09:15:00"}, "has no time zone"),
        ({**OBSERVATION, "timestamp": "0001-01-01T00:00:00+14:00"}, "out of range"),
        ({**OBSERVATION, "id": "o 1"}, "has white space"),
        ({**OBSERVATION, "id": ""}, "the observation id is empty"),
        ({**OBSERVATION, "title": "\ud83d"}, "half a character (U+D83D) in 'o1'"),
        ([1], "a JSON object is needed, this is an array"),
        ('{"id": "a", "id": "b"}', "the key 'id' occurs twice"),
        ('{"importance": NaN}', "NaN is not JSON"),
        ('{"importance": %s}' % ("9" * 5000), "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_a_faulty_observation_is_refused(tmp_path: Path, record: object, told: str) -> None:
    assert told in refusal(tmp_path, [{**OBSERVATION, "id": "first"}, record], [QUERY])


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({**QUERY, "relevant": ["o1"]}, "the field 'relevant' is not an object of ids and grades"),
        ({**QUERY, "relevant": {"o1": 0.5}}, "the grade 0.5 is not a whole number"),
        ({**QUERY, "relevant": {"o1": True}}, "the grade True is not a whole number"),
        ({**QUERY, "relevant": {"o 1": 1}}, "has white space"),
        ('{"id": "q1", "text": "x", "relevant": {"o1": 1, "o1": 2}}', "query 'q1', observation 'o1': grade 1 before, 2 here"),
        ({**QUERY, "answer": "npm"}, "the field 'answer' is not one of id, text"),
    ],
)
def test_a_faulty_query_is_refused(tmp_path: Path, record: object, told: str) -> None:
    assert f"{tmp_path}/queries.jsonl:1: " in (message := refusal(tmp_path, [OBSERVATION], [record]))
    assert told in message


def test_grades_below_one_are_judged_and_not_relevant(tmp_path: Path) -> None:
    loaded = load_jsonl(folder(tmp_path, [OBSERVATION, {**OBSERVATION, "id": "o2"}], [{**QUERY, "relevant": {"o1": -1, "o2": 0}}]))
    assert not loaded.queries[0].answerable


def test_dangling_judgments_stay_so_that_r_counts_them(tmp_path: Path) -> None:
    loaded = load_jsonl(folder(tmp_path, [OBSERVATION], [{**QUERY, "relevant": {"o1": 1, "oX": 1}}]))
    assert loaded.queries[0].relevant == {"o1": 1, "oX": 1}


def test_an_id_that_occurs_twice_is_refused_at_its_second_place(tmp_path: Path) -> None:
    assert f"{tmp_path}/observations.jsonl:2: the observation 'o1' occurs again" in refusal(tmp_path, [OBSERVATION, OBSERVATION], [QUERY])
    told = refusal(tmp_path, [OBSERVATION, {**OBSERVATION, "title": "Other"}], [QUERY])
    assert "the observation id 'o1' occurs again, with other content" in told
    assert "queries.jsonl:2: the query 'q1' occurs again" in refusal(tmp_path, [OBSERVATION], [QUERY, QUERY])


def test_changed_content_under_an_old_fingerprint_is_refused(tmp_path: Path, dataset: Dataset) -> None:
    write_jsonl(tmp_path, dataset.name, dataset.observations, dataset.queries)
    path = tmp_path / "queries.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("Why?", "Why not?"), encoding="utf-8")
    with pytest.raises(InputError, match=r"dataset\.json: the content has the fingerprint .*delete the fingerprint"):
        load_jsonl(str(tmp_path))


@pytest.mark.parametrize("description", [[], {"name": 3}, {"licence": None}])
def test_a_faulty_description_is_refused(tmp_path: Path, description: object) -> None:
    assert "name, licence and fingerprint are strings" in refusal(tmp_path, [OBSERVATION], [QUERY], description=description)  # type: ignore[arg-type]


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load_jsonl(str(tmp_path / "nowhere"))
    (tmp_path / "observations.jsonl").mkdir()
    with pytest.raises(InputError, match=r"observations\.jsonl: can't read the file \(is a folder\)"):
        load_jsonl(str(tmp_path))


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe{\x00}\x00", b'{"id": "\xff"}', gzip.compress(json.dumps(OBSERVATION).encode() * 50)[:-9], b"\x1f\x8bnot gzip"],
    ids=["utf-16", "latin-1", "cut gzip", "bad gzip"],
)
def test_what_is_not_utf8_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "observations.jsonl").write_bytes(content)
    (tmp_path / "queries.jsonl").write_text("")
    with pytest.raises(InputError, match=r"observations\.jsonl.*(UTF|damaged)"):
        load_jsonl(str(tmp_path))


@pytest.mark.parametrize("quote", ["'", "’"], ids=["ascii", "typographic"])
def test_loading_takes_at_most_one_and_a_half_times_the_file(tmp_path: Path, quote: str) -> None:
    sentence = f"It{quote}s the booking service that keeps the connection pool small. "
    observations = (
        Observation(
            id=f"obs_{n:06}",
            session_id=f"ses_{n // 8:05}",
            timestamp=datetime(2026, 1, 1, tzinfo=UTC),
            type="decision",
            title=f"Decision number {n}",
            subtitle="Database",
            narrative=sentence * 3 + str(n),
            facts=(f"The first fact of {n}", f"The second fact of {n}", f"The third fact of {n}"),
            concepts=("database", "pool"),
            files=("src/db.ts",),
        )
        for n in range(4000)
    )
    write_jsonl(tmp_path, "many", observations, [])
    size = (tmp_path / "observations.jsonl").stat().st_size
    load_jsonl(str(tmp_path))  # what is imported and cached once is no part of the data
    tracemalloc.start()
    loaded = load_jsonl(str(tmp_path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(loaded.observations) == 4000
    assert peak < 1.5 * size


def test_the_zone_of_a_question_is_kept_since_its_yesterday_is_the_askers(tmp_path: Path, dataset: Dataset) -> None:
    moment = datetime(2026, 3, 10, 21, 30, tzinfo=ZoneInfo("America/Chicago"))
    queries = [Query(id=i, text="yesterday?", scope="x", asked_at=at) for i, at in (("q1", moment), ("q2", moment.astimezone(UTC)))]
    write_jsonl(tmp_path, "zones", iter(dataset.observations), iter(queries), "")
    again = load_jsonl(str(tmp_path)).queries
    assert list(again) == queries
    assert [query.asked_at and query.asked_at.isoformat() for query in again] == ["2026-03-10T21:30:00-05:00", "2026-03-11T02:30:00+00:00"]
    assert [query.asked_at and query.asked_at.utcoffset() for query in queries] == [timedelta(hours=-5), timedelta()]


def test_what_was_judged_to_be_no_answer_is_kept_and_written_as_a_zero(tmp_path: Path) -> None:
    others = [{**OBSERVATION, "id": name} for name in ("o2", "o3")]
    asked = [{**QUERY, "relevant": {"o1": 2, "o3": 0}}, {"id": "q2", "text": "?", "relevant": {"o2": 0, "o1": 0}}]
    loaded = load_jsonl(folder(tmp_path, [OBSERVATION, *others], asked))
    assert [(q.relevant, q.irrelevant, q.answerable) for q in loaded.queries] == [({"o1": 2}, ("o3",), True), ({}, ("o1", "o2"), False)]
    assert [q.judgments for q in loaded.queries] == [{"o1": 2, "o3": 0}, {"o1": 0, "o2": 0}]
    (tmp_path / "again").mkdir()
    (tmp_path / "beir" / "qrels").parent.mkdir()
    write_jsonl(tmp_path / "again", "again", loaded.observations, loaded.queries)
    assert load_jsonl(str(tmp_path / "again")).queries == loaded.queries
    write_beir(tmp_path / "beir", loaded.observations, loaded.queries)
    assert [q.judgments for q in load_beir(str(tmp_path / "beir")).queries] == [q.judgments for q in loaded.queries]


def test_one_id_is_not_relevant_and_irrelevant() -> None:
    with pytest.raises(InputError, match="query q: 'a' is judged relevant and irrelevant; keep one of the two"):
        Query(id="q", text="?", relevant={"a": 1}, irrelevant=("a",))
