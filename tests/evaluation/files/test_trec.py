"""Qrels and runs in files: what is accepted, what is refused with its line, and that nothing is lost on the way."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.files.trec import read_qrels, read_run, write_run_file
from recallmeter.evaluation.measures.canonical import canonical
from recallmeter.retrieval.ranking import Hit

ids = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6)
scores = st.floats(allow_nan=False, allow_infinity=False)
QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": -1, "d3": 1}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trec")


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


WRITTEN = {
    "qrels.txt": "".join(f"{query} 0 {document} {grade}\n" for query, judged in QRELS.items() for document, grade in judged.items()),
    "qrels.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t-1\nq2\td3\t1\n",
    "qrels.json": json.dumps(QRELS),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_qrels_are_read_in_every_form(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(WRITTEN[name])
    assert read_qrels(tmp_path / name) == QRELS


@given(st.dictionaries(ids, st.lists(st.builds(Hit, ids, scores), min_size=1, unique_by=lambda hit: hit.id), min_size=1, max_size=3))
@settings(derandomize=True, deadline=None, max_examples=60)
@pytest.mark.parametrize("suffix", ["trec", "json"])
def test_a_run_reads_back_to_the_last_bit(folder: Path, suffix: str, run: dict[str, list[Hit]]) -> None:
    path = folder / f"run.{suffix}"
    write_run_file(path, run, tag="ours")
    assert read_run(path) == {query: canonical(hits) for query, hits in run.items()}


def test_a_run_in_trec_format(tmp_path: Path) -> None:
    write_run_file(tmp_path / "run.trec", {"q1": [Hit("b", 0.1), Hit("a", 1e-20 + 0.1), Hit("c", 2)], "q2": []}, tag="ours")
    assert (tmp_path / "run.trec").read_bytes() == b"q1 Q0 c 1 2.0 ours\nq1 Q0 a 2 0.1 ours\nq1 Q0 b 3 0.1 ours\n"


@pytest.mark.parametrize(
    "content",
    [
        "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\nq2 0 d3 1\n",
        "\ufeffq1\t0\td1\t2\r\n\r\nq1\t0\td2\t0\r\nq2\t0\td1\t-1\r\nq2\t0\td3\t1",
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t-1\nq2\td3\t1\n",
        "q1 d1 2\nq1 d2 0\nq2 d1 -1\nq2 d3 1.0\nq1 d1 2\n",
    ],
    ids=["trec", "byte order mark, CRLF, tabs, blank line", "beir", "no header, 1.0, said twice"],
)
def test_qrels_as_people_write_them(tmp_path: Path, content: str) -> None:
    assert read_qrels(written(tmp_path, "qrels", content)) == QRELS
    assert read_qrels(written(tmp_path, "qrels.gz", gzip.compress(content.encode()))) == QRELS


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("q1 0 d1 1\nq1 0 d 2 1\n", r"qrels:2: .*5"),
        ("q1\t0\td1\t1\nq1\t0\td 2\t1\n", r"qrels:2: .*'d 2' has white space"),
        ("q1 0 d1 1\n\nq1 0 d2 0.5\n", r"qrels:3: .*0.5"),
        ("q1 0 d1 1\nq1 0 d2 high\n", r"qrels:2: .*high"),
        ("q1 0 d1 1\nq1 0 d1 2\n", r"qrels:2: 'd1' has grade 2 for query 'q1', and 1 further up"),
        ("q1 0 d1 1\n\xff\xfe\n".encode("latin-1"), r"qrels:2: .*UTF-8"),
        ("", "qrels: there is no judgment"),
    ],
)
def test_qrels_refused_with_their_line(tmp_path: Path, content: str | bytes, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_qrels(written(tmp_path, "qrels", content))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("q1 Q0 d1 1 0.5\n", r"run:1: a run has 6 columns .* 5;"),
        ("q1 Q0 d1 1 0.5 x\nq1 Q0 d 2 2 0.4 x\n", r"run:2: .* 7;"),
        ("q1\tQ0\td 2\t2\t0.4\tx\n", r"run:1: .*'d 2' has white space"),
        ("q1 Q0 d1 1 0.5 x\n\nq1 Q0 d2 2 nan x\n", r"run:3: score 'nan' of 'd2' for query 'q1'"),
        ("q1 Q0 d1 1 inf x\n", r"run:1: score 'inf'"),
        ("q1 Q0 d1 1 high x\n", r"run:1: score 'high'"),
        ("\n", "there is no hit"),
    ],
)
def test_a_run_refused_with_its_line(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_run(written(tmp_path, "run", content))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[]", "a run in JSON is"),
        ('{"q1": ["d1"]}', "query q1: its hits"),
        ('{"q1": {"d1": true}}', "query q1: score True of 'd1'"),
        ('{"q1": {"d1": null}}', "query q1: score None of 'd1'"),
        ('{"q1": {"d1": NaN}}', "NaN"),
        ('{"q1": {"d 1": 1}}', "'d 1' has white space"),
        ('{"q1": {"d1": 1}, "q1": {"d2": 1}}', "'q1' occurs twice"),
        ('{"q1": {', "JSON"),
        ("{}", "there is no hit"),
    ],
)
def test_a_json_run_refused_with_its_place(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_run(written(tmp_path, "run.json", content))


@pytest.mark.parametrize(("name", "content"), [("run.json", '{"q1": {"d1": 1, "d1": 2}}'), ("run", "q1 Q0 d1 1 1 x\nq1 Q0 d1 2 2 x\n")])
def test_a_document_that_occurs_twice_is_left_to_the_canonical_ranking(tmp_path: Path, name: str, content: str) -> None:
    assert read_run(written(tmp_path, name, content)) == {"q1": (Hit("d1", 1.0), Hit("d1", 2.0))}


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    for read in (read_qrels, read_run):
        with pytest.raises(InputError, match=r"nowhere: can.t read"):
            read(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("run", "tag", "told"),
    [
        ({"q 1": [Hit("a", 1.0)]}, "x", "'q 1' has white space"),
        ({"q1": [Hit("", 1.0)]}, "x", "document id is empty"),
        ({"q1": [Hit("a", 1.0)]}, "my run", "tag 'my run' has white space"),
        ({"q1": [Hit("a", math.nan)]}, "x", "query q1: score nan of 'a'"),
    ],
)
def test_nothing_is_written_of_a_run_that_cannot_be(tmp_path: Path, run: dict[str, list[Hit]], tag: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        write_run_file(tmp_path / "run.trec", run, tag=tag)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "no").write_text("")
    with pytest.raises(InputError, match="can't be written"):
        write_run_file(tmp_path / "no" / "run.trec", {"q": [Hit("a", 1.0)]}, tag="x")


@pytest.mark.shared
def test_published_judgments(shared: Path) -> None:
    qrels = read_qrels(shared / "data" / "scifact" / "qrels" / "test.tsv")
    assert (len(qrels), sum(map(len, qrels.values()))) == (300, 339)
