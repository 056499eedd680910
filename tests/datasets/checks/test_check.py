"""The check: every fault has its place, its count and its remedy, in our own format and in BEIR's."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from recallmeter.datasets.checks.check import Report, check
from recallmeter.datasets.checks.twins import NEAR, near_twins
from recallmeter.datasets.formats.beir import read_beir
from recallmeter.datasets.formats.catalogue import detect, reader
from recallmeter.datasets.formats.jsonl import read_jsonl
from recallmeter.datasets.model import EPOCH, Observation

NFC, NFD = (unicodedata.normalize(form, "é") for form in ("NFC", "NFD"))


def observation(identifier: str, text: str = "", **rest: Any) -> dict[str, Any]:
    text = text or f"only_{identifier} alone_{identifier}"
    return {"id": identifier, "session_id": "s", "timestamp": "2026-01-01T00:00:00Z", "type": "t", "title": "", "narrative": text, **rest}


def query(identifier: str, relevant: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    return {"id": identifier, "text": f"question {identifier}?", "relevant": relevant or {}, **rest}


OBSERVATIONS: list[dict[str, Any] | bytes] = [
    observation("o1"),  # 1
    b"",  # 2 blank
    observation("o2"),  # 3
    observation("o2"),  # 4 again, equal
    observation("o1", "something else"),  # 5 again, unequal
    observation("o3", " "),  # 6 empty
    observation("o4", "word " * 400_000),  # 7: 2 MB
    b'{"id": "o5", "session_id": "s", "timestamp": "2026-01-01T00:00:00Z", "type": "t", "title": "\\ud83d"}',  # 8
    observation("o6", "before\0after"),  # 9
    observation(f"caf{NFD}"),  # 10
    observation("o7", scope="elsewhere"),  # 11
    observation("o8", timestamp="2027-01-01T00:00:00Z"),  # 12 later than asked
    b'{"id": "o9", ',  # 13
    b"\xff\xfe",  # 14
    {**observation("o10"), "colour": "red"},  # 15 unknown field
    {**observation("o11"), "importance": 11},  # 16
    observation("o 12"),  # 17
    observation("o13", superseded_by="nobody"),  # 18
    observation("o14", superseded_by="o8"),  # 19
    observation("o15", "the same words"),  # 20
    observation("o16", "the same words"),  # 21 a copy, judged unlike
    observation("q1"),  # 22 the id of a query
    observation(f"th{NFC}"),  # 23
    observation(f"th{NFD}"),  # 24 alike
    observation("o17", superseded_by="o1", timestamp="2026-05-01T00:00:00Z"),  # 25 successor older
    {"id": "o18"},  # 26 fields missing
    b'{"id": "o19", "id": "o20"}',  # 27
    b"[1]",  # 28
]
QUERIES: list[dict[str, Any] | bytes] = [
    query("q1", {"o1": 2, "oX": 1}),  # 1 dangling
    query("q2", {f"caf{NFC}": 1}),  # 2 another normal form
    query("q3", {"o7": 1}),  # 3 outside its scope
    query("q4", {"o8": 1}, asked_at="2026-06-01T00:00:00Z"),  # 4 future
    query("q5", {}),  # 5 no gold
    query("q6", {"o1": 0, "o2": -1}),  # 6 grades below 1
    query("q7", {"o1": 0.5}),  # 7
    b'{"id": "q8", "text": "agree?", "relevant": {"o1": 1, "o1": 1}}',  # 8
    b'{"id": "q9", "text": "conflict?", "relevant": {"o1": 1, "o1": 2}}',  # 9
    query("q10", {"o15": 1}),  # 10 its twin is not relevant
    {**query("q11", {"o1": 1}), "text": " "},  # 11
    query("q12", {"o1": 1}, scope="nowhere"),  # 12
    {**query("q13", {"o1": 1}), "text": "Question q10?"},  # 13 asked before
    query("q10", {"o15": 1}),  # 14 again
    query("q14", {"o14": 1}),  # 15 superseded gold
    query("q15", {f"o{n}": 1 for n in range(100, 112)}),  # 16: R = 12, none there
]
FOUND = {
    "byte-order-mark": (1, "observations.jsonl:1", "note"),
    "crlf": (1, "observations.jsonl:1", "note"),
    "blank-line": (1, "observations.jsonl:2", "note"),
    "duplicate-id": (2, "observations.jsonl:4", "error"),
    "duplicate-id-other-content": (1, "observations.jsonl:5", "error"),
    "empty-observation": (1, "observations.jsonl:6", "warning"),
    "very-long-text": (1, "observations.jsonl:7", "warning"),
    "lone-surrogate": (1, "observations.jsonl:8", "error"),
    "nul-character": (1, "observations.jsonl:9", "warning"),
    "broken-record": (2, "observations.jsonl:13", "error"),
    "not-utf8": (1, "observations.jsonl:14", "error"),
    "unknown-field": (1, "observations.jsonl:15", "error"),
    "bad-value": (1, "observations.jsonl:16", "error"),
    "bad-id": (1, "observations.jsonl:17", "error"),
    "successor-unknown": (1, "observations.jsonl:18", "error"),
    "successor-older": (1, "observations.jsonl:25", "warning"),
    "duplicate-text": (1, "observations.jsonl:21", "warning"),
    "ids-alike-in-nfc": (1, "observations.jsonl:24", "error"),
    "missing-field": (2, "observations.jsonl:26", "error"),
    "repeated-key": (1, "observations.jsonl:27", "error"),
    "dangling-judgment": (13, "queries.jsonl:1", "error"),
    "query-id-is-observation-id": (1, "queries.jsonl:1", "note"),
    "dangling-by-normal-form": (1, "queries.jsonl:2", "error"),
    "gold-outside-scope": (2, "queries.jsonl:3", "error"),
    "gold-after-asked": (1, "queries.jsonl:4", "error"),
    "unanswerable": (2, "queries.jsonl:5", "note"),
    "unanswerable-by-grade": (1, "queries.jsonl:6", "note"),
    "judged-not-relevant": (2, "queries.jsonl:6", "note"),
    "bad-grade": (1, "queries.jsonl:7", "error"),
    "duplicate-judgment": (2, "queries.jsonl:8", "warning"),
    "conflicting-judgments": (1, "queries.jsonl:9", "error"),
    "duplicate-text-judged-unlike": (1, "queries.jsonl:10", "warning"),
    "empty-query": (1, "queries.jsonl:11", "error"),
    "query-of-empty-scope": (1, "queries.jsonl:12", "error"),
    "same-question": (1, "queries.jsonl:13", "warning"),
    "gold-superseded": (1, "queries.jsonl:15", "note"),
    "scope-never-asked": (1, "scope 'elsewhere'", "note"),
    "fingerprint-differs": (1, "notes", "error"),
    "ceiling-below-1": (6, "queries.jsonl:1", "warning"),
}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """A folder in our own format with every fault there is, and what the check says of it."""
    folder = tmp_path_factory.mktemp("faulty")
    for name, records in (("observations", OBSERVATIONS), ("queries", QUERIES)):
        lines = [record if isinstance(record, bytes) else json.dumps(record, ensure_ascii=False).encode() for record in records]
        if name == "observations":
            lines[0] = b"\xef\xbb\xbf" + lines[0] + b"\r"
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return folder, check(partial(read_jsonl, folder), name="notes", fingerprint="0" * 64)


@pytest.mark.parametrize("kind", sorted(FOUND))
def test_every_fault_has_its_line_its_count_and_its_remedy(faulty: tuple[Path, Report], kind: str) -> None:
    folder, report = faulty
    finding = next((finding for finding in report.findings if finding.kind.name == kind), None)
    assert finding is not None, [finding.kind.name for finding in report.findings]
    count, place, severity = FOUND[kind]
    told = [(example.where.removeprefix(f"{folder}/"), example.what) for example in finding.examples]
    assert finding.count == count, told
    assert told[0][0] == place, told
    assert finding.kind.severity == severity
    assert finding.kind.remedy


def test_nothing_else_is_found_and_errors_come_first(faulty: tuple[Path, Report]) -> None:
    _, report = faulty
    assert {finding.kind.name for finding in report.findings} == FOUND.keys()
    severities = [finding.kind.severity.value for finding in report.findings]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert report.failed
    json.dumps(report.as_record()).encode("ascii")


def test_dangling_judgments_count_into_r(tmp_path: Path) -> None:
    report = own(tmp_path, [observation("d1")], [query("q", {"d1": 1, "dX": 1})])
    assert report.measures["recall@10"] == 0.5
    assert [(finding.kind.name, finding.count) for finding in report.findings] == [("dangling-judgment", 1), ("ceiling-below-1", 1)]


def own(folder: Path, observations: list[Any], queries: list[Any]) -> Report:
    for name, records in (("observations", observations), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    return check(partial(read_jsonl, folder), name="d")


def names(report: Report) -> dict[str, int]:
    return {finding.kind.name: finding.count for finding in report.findings}


def test_an_empty_source_is_an_error(tmp_path: Path) -> None:
    report = own(tmp_path, [], [])
    assert names(report) == {"no-observations": 1, "no-queries": 1}
    assert (report.failed, report.measures) == (True, {})
    assert names(own(tmp_path, [observation("a", ""), observation("b", " ", title=" ")], [query("q")]))["empty-observation"] == 1


def test_a_sound_data_set_has_no_finding(tmp_path: Path) -> None:
    report = own(tmp_path, [observation("a"), observation("b", "quite another matter")], [query("q", {"a": 1}), query("p", {"b": 2})])
    assert report.findings == ()
    assert not report.failed
    assert report.counts == {"observations": 2, "queries": 2, "answerable": 2, "judgments": 2, "scopes": 1}


def test_ceilings(tmp_path: Path) -> None:
    observations = [observation(f"o{n}", f"word{n}") for n in range(20)]
    report = own(tmp_path, observations, [query("q", {f"o{n}": 1 for n in range(20)}), query("p", {"o1": 1})])
    assert report.measures["recall@5"] == pytest.approx((5 / 20 + 1) / 2)
    assert report.measures["recall@10"] == pytest.approx((10 / 20 + 1) / 2)


def test_labels_that_concepts_give_away(tmp_path: Path) -> None:
    observations = [observation(f"o{n:02}", f"text {n}", concepts=[f"topic-{n}"]) for n in range(30)]
    asked = [{**query(f"q{n}", {f"o{n:02}": 1}), "text": f"what of Topic {n}"} for n in range(30)]
    report = own(tmp_path, observations, asked)
    assert report.measures["concepts_recall@10"] == 1
    assert names(report)["concepts-tell-relevance"] == 30
    silent = own(tmp_path, observations, [{**asked[n], "text": "something unrelated"} for n in range(30)])
    assert silent.measures["concepts_recall@10"] == 0
    assert "concepts-tell-relevance" not in names(silent)


def test_labels_that_ids_give_away(tmp_path: Path) -> None:
    observations = [observation(f"{'gold' if n < 3 else 'filler'}-{n}") for n in range(30)]
    report = own(tmp_path, observations, [query("q", {f"gold-{n}": 1 for n in range(3)})])
    told = next(finding.examples for finding in report.findings if finding.kind.name == "id-tells-relevance")
    assert [example.what for example in told] == ["the word 'gold' is in 3 of 3 relevant ids and in 0 of 27 others"]


def test_near_twins_are_those_that_comparing_all_with_all_finds() -> None:
    chance = random.Random(0)
    found = 0
    for _ in range(60):
        vocabulary = [f"w{n}" for n in range(chance.randint(3, 90))]
        bags: list[set[str]] = []
        for _ in range(25):
            bag = (
                set(chance.choice(bags))
                if bags and chance.random() < 0.5
                else set(chance.sample(vocabulary, chance.randint(1, len(vocabulary))))
            )
            bags.append(bag ^ set(chance.sample(vocabulary, chance.randint(0, 3))) or {"w0"})
        texts = {f"{n:02}": " ".join(sorted(bag)) for n, bag in enumerate(bags)}
        distinct = {text: identifier for identifier, text in reversed(texts.items())}
        by_id = sorted((identifier, set(text.split())) for text, identifier in distinct.items())
        expected = [
            (i, j, len(a & b) / len(a | b)) for n, (i, a) in enumerate(by_id) for j, b in by_id[n + 1 :] if len(a & b) / len(a | b) > NEAR
        ]
        observed = [Observation(id=i, session_id="", timestamp=EPOCH, type="t", title=text) for i, text in texts.items()]
        assert near_twins(observed) == (expected, 0)
        found += len(expected)
    assert found > 500


def test_a_text_that_another_contains_is_its_near_twin(tmp_path: Path) -> None:
    short = "alpha beta gamma delta epsilon zeta eta"
    report = own(tmp_path, [observation("a", short), observation("b", f"one two three four {short}")], [query("q", {"a": 1})])
    told = next(finding.examples for finding in report.findings if finding.kind.name == "near-duplicate-text")
    assert [example.what for example in told] == ["'b' shares 64% of the words with 'a'"]


def test_a_successor_lives_in_the_same_scope(tmp_path: Path) -> None:
    observations = [observation("a", superseded_by="b"), observation("b", scope="x")]
    assert names(own(tmp_path, observations, [query("q", {"a": 1})]))["successor-unknown"] == 1


def test_twins_live_in_one_scope_and_chinese_is_compared_by_character(tmp_path: Path) -> None:
    first, second = "黑豹队的防守丢了多少分", "黑豹队的防守丢了几分"
    together = own(tmp_path, [observation("a", first), observation("b", second)], [query("q", {"a": 1})])
    assert names(together)["near-duplicate-text"] == 1
    apart = own(
        tmp_path, [observation("a", first), observation("b", second, scope="x"), observation("c", first, scope="x")], [query("q", {"a": 1})]
    )
    assert "duplicate-text" not in names(apart)


BEIR = {
    "corpus.jsonl": '\ufeff{"_id": "d1", "title": "T", "text": "one"}\r\n\n{"_id": "d1", "title": "T", "text": "one"}\n'
    '{"_id": "d2", "text": ""}\n{"_id": "d3"}\n',
    "queries.jsonl": '{"_id": "q1", "text": "first?", "url": "x"}\n{"_id": "q2", "text": "second?"}\n{"_id": "q3", "text": "third?"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\r\nq1\td1\t1\nq1\td1\t1\nq1\tdX\t1\nq1\td2\t0.5\n"
    "q2\td2\t-1\nq9\td1\t1\nq2\td 2\t1\nq2\td1\t0\nq2\td1\t2\n\nq2\n",
}
FOUND_IN_BEIR = {
    "byte-order-mark": (1, "corpus.jsonl:1"),
    "crlf": (2, "qrels/test.tsv:1"),
    "blank-line": (2, "qrels/test.tsv:11"),
    "duplicate-id": (1, "corpus.jsonl:3"),
    "empty-observation": (1, "corpus.jsonl:4"),
    "missing-field": (1, "corpus.jsonl:5"),
    "field-not-read": (1, "queries.jsonl:1"),
    "query-not-in-split": (1, "queries.jsonl:3"),
    "duplicate-judgment": (1, "qrels/test.tsv:3"),
    "dangling-judgment": (1, "qrels/test.tsv:4"),
    "bad-grade": (1, "qrels/test.tsv:5"),
    "judged-not-relevant": (2, "qrels/test.tsv:6"),
    "judged-query-unknown": (1, "qrels/test.tsv:7"),
    "bad-id": (1, "qrels/test.tsv:8"),
    "conflicting-judgments": (1, "qrels/test.tsv:10"),
    "broken-record": (1, "qrels/test.tsv:12"),
    "unanswerable-by-grade": (1, "queries.jsonl:2"),
    "ceiling-below-1": (1, "queries.jsonl:1"),
}


def test_every_fault_of_a_beir_folder_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    for name, text in BEIR.items():
        (tmp_path / name).write_bytes(text.encode())
    report = check(partial(read_beir, tmp_path), name="beir")
    found = {finding.kind.name: (finding.count, finding.examples[0].where.removeprefix(f"{tmp_path}/")) for finding in report.findings}
    assert found == FOUND_IN_BEIR


def test_the_published_ceilings_of_the_reference(shared: Path) -> None:
    path = shared / "reference" / "agentmemory-240"
    report = check(partial(reader(detect(path)), path), name="reference")
    assert (round(report.measures["recall@5"], 3), round(report.measures["recall@10"], 3)) == (0.448, 0.696)
    assert names(report) == {"duplicate-text": 192, "ceiling-below-1": 11, "concepts-tell-relevance": 15}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"corpus.jsonl.gz": ""}, "beir"),
        ({"observations.jsonl": '{"id": "a"}'}, "jsonl"),
        ({"observations.jsonl": '{"id": "a", "sessionId": "s"}'}, "agentmemory"),
        ({"qrels.txt": "", "topics.tsv": ""}, "trec"),
        ('[{"haystack_sessions": []}]', "longmemeval"),
        ('[{"conversation": {}}]', "locomo"),
        ('{"observations": {}}', "agentmemory"),
        ({}, None),
        ("[{]", None),
        ("[]", None),
    ],
)
def test_the_format_is_told_from_the_files(tmp_path: Path, files: dict[str, str] | str, expected: str | None) -> None:
    path = tmp_path
    if isinstance(files, str):
        path = tmp_path / "file.json"
        path.write_text(files)
    else:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
    told: Callable[[], object] = partial(detect, path)
    if expected is not None:
        assert told() == expected
    else:
        with pytest.raises(ValueError, match="can't tell the format; name it with --format"):
            told()
