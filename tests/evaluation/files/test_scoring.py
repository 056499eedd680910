"""Runs in files: read by blocks of bytes, they score as they do line by line, and what is not plain is still named by its line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recallmeter.datasets import reading
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.files.columns import PADDING, columns_of
from recallmeter.evaluation.files.matching import match_file
from recallmeter.evaluation.files.qrels import quick_qrels
from recallmeter.evaluation.files.scoring import score_file
from recallmeter.evaluation.files.trec import read_qrels, read_run
from recallmeter.evaluation.measures.grammar import parse_measure
from recallmeter.evaluation.measures.metrics import score

MEASURES = tuple(map(parse_measure, ("ndcg@3", "mrr", "map", "recall@2", "judged@3", "bpref", "rbp_residual", "silence", "junk@2", "f1@2")))
IDS = st.text(st.sampled_from("abcdefgé漢0123456789_-"), min_size=1, max_size=20)
SCORES = st.sampled_from(
    ["1", "2.5", "-3.25", "1e-3", "0.1", ".5", "7.", "+4", "0.30000000000000004", "0.3", "12345678901234567890", "1e300"]
)
SCORES |= st.floats(-1e6, 1e6).map(repr) | st.floats(-100, 100).map("{:.4f}".format)
LINES = st.lists(st.tuples(st.integers(0, 5), IDS, SCORES), min_size=1, max_size=30)


def written(lines: list[tuple[int, str, str]], separator: str = " ") -> str:
    return "".join(separator.join((f"q{query}", "Q0", document, "1", number, "tag")) + "\n" for query, document, number in lines)


@given(
    LINES, st.lists(st.tuples(st.integers(0, 7), st.integers(0, 40), st.integers(-1, 3)), min_size=1), st.sampled_from(" \t"), st.booleans()
)
@settings(derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_a_file_scores_as_it_does_line_by_line(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[tuple[int, str, str]],
    judged: list[tuple[int, int, int]],
    separator: str,
    together: bool,
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.trec"
    path.write_text(written(sorted(lines, key=lambda line: line[0]) if together else lines, separator), encoding="utf-8")
    qrels: dict[str, dict[str, int]] = {f"q{lines[0][0]}": {"nothing": 1}}
    for query, line, grade in judged:
        qrels.setdefault(f"q{query}", {})[lines[line % len(lines)][1]] = grade
    got, expected = score_file(qrels, path, MEASURES), score(qrels, read_run(path), MEASURES)
    assert (got.query_ids, got.unanswerable, got.missing, got.unjudged, got.repeated) == (
        *(expected.query_ids, expected.unanswerable, expected.missing, expected.unjudged, expected.repeated),
    )
    for name, values in expected.values.items():
        assert np.array_equal(got.values[name], values, equal_nan=True), name
    assert match_file(path, qrels) is not None or not together


@given(
    st.lists(SCORES | st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.decimals(-999, 999, places=18).map(str), min_size=1)
)
@settings(derandomize=True, deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
def test_numbers_are_read_to_the_last_bit(numbers: list[str]) -> None:
    block = written([(0, "d", number) for number in numbers]).encode() + bytes(PADDING)
    columns = columns_of(block)
    assert columns is not None
    assert columns.scores.tolist() == [float(number) for number in numbers]


def test_blocks_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [(query, f"document{number}", str(100 - number)) for query in range(6) for number in range(9)]
    (tmp_path / "run").write_text(written(lines).rstrip("\n"))
    qrels = {f"q{query}": {"document3": 2, "document8": 1} for query in range(6)}
    expected = score(qrels, read_run(tmp_path / "run"), MEASURES)
    for size in (7, 40, 100, 333, 1 << 20):
        monkeypatch.setattr(reading, "_BLOCK", size)
        got = score_file(qrels, tmp_path / "run", MEASURES)
        assert all(np.array_equal(got.values[name], values, equal_nan=True) for name, values in expected.values.items()), size


@pytest.mark.parametrize("pair", [("a 1 3.0", "a 2 1.0"), ("a 1 1.0", "a 2 3.0")])
def test_of_a_document_twice_the_highest_score_counts_in_either_order(tmp_path: Path, pair: tuple[str, str]) -> None:
    (tmp_path / "run").write_text("".join(f"q Q0 {line} t\n" for line in (pair[0], "b 3 2.0", pair[1])))
    scores = score_file({"q": {"a": 1}}, tmp_path / "run", [parse_measure("mrr")])
    assert (scores.mean("mrr"), scores.repeated) == (1.0, ("q",))
    pairs = ", ".join(f'"{line[0]}": {line[4:]}' for line in (pair[0], "b 3 2.0", pair[1]))
    (tmp_path / "run.json").write_text(f'{{"q": {{{pairs}}}}}')
    assert score_file({"q": {"a": 1}}, tmp_path / "run.json", [parse_measure("mrr")]).mean("mrr") == 1.0


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("q1 Q0 b 2 nan t", "run:2.*not a finite number"),
        ("q1 Q0 b 2 1e999 t", "run:2.*not a finite number"),
        ("q1 Q0 b 2 1_0 t", ""),
        ("q1 Q0 b 2 one t", "run:2.*not a finite number"),
        ("q1 Q0 b 2 1.0", "run:2: a run has 6 columns.*this line has 5"),
        ("q1 Q0 b c 2 1.0 t", "run:2: a run has 6 columns.*this line has 7"),
        ("q1 Q0 b\x07 2 1.0 t", r"run:2.*control character"),
        ("q1 Q0 b\u2003c 2 1.0 t", "run:2: a run has 6 columns"),
        ("", ""),
        ("q1  Q0  b 2 1.0  t", ""),
        ("q1\tQ0\tb\t2\t1.0\tt", ""),
        ("q1 Q0 b 2 1.0 t\r", ""),
    ],
)
def test_what_is_not_plain_is_read_line_by_line_and_named_by_its_line(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "run").write_text(f"q1 Q0 a 1 3.5 t\n{line}\nq1 Q0 c 3 0.5 t\n", encoding="utf-8", newline="")
    qrels = {"q1": {"c": 1}}
    if told:
        with pytest.raises(InputError, match=told):
            score_file(qrels, tmp_path / "run", MEASURES)
    else:
        assert (
            score_file(qrels, tmp_path / "run", MEASURES).values["mrr"][0]
            == score(qrels, read_run(tmp_path / "run"), MEASURES).values["mrr"][0]
        )


def test_a_byte_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"q1 Q0 a 1 3.5 t\nq1 Q0 \xff 2 1.0 t\n")
    with pytest.raises(InputError, match="run:2: byte 0xff"):
        score_file({"q1": {"a": 1}}, tmp_path / "run", MEASURES)


def test_packed_files_and_json_in_any_case_are_read(tmp_path: Path) -> None:
    text, run = written([(0, "a", "2"), (0, "b", "1")]), {"q0": {"a": 2.0, "b": 1.0}}
    (tmp_path / "run.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "RUN.JSON").write_text(json.dumps(run))
    (tmp_path / "run.json.gz").write_bytes(gzip.compress(json.dumps(run).encode()))
    (tmp_path / "qrels.json.gz").write_bytes(gzip.compress(json.dumps({"q0": {"b": 1}}).encode()))
    qrels = read_qrels(tmp_path / "qrels.json.gz")
    assert qrels == {"q0": {"b": 1}}
    for name in ("run.gz", "RUN.JSON", "run.json.gz"):
        assert score_file(qrels, tmp_path / name, [parse_measure("mrr")]).mean("mrr") == 0.5


def test_zstandard_is_unpacked(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    (tmp_path / "run.zst").write_bytes(zstandard.compress(written([(0, "a", "2"), (0, "b", "1")]).encode()))
    assert score_file({"q0": {"b": 1}}, tmp_path / "run.zst", [parse_measure("mrr")]).mean("mrr") == 0.5
    assert read_run(tmp_path / "run.zst").keys() == {"q0"}


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "run.gz").write_bytes(gzip.compress(written([(0, "a", "2")] * 50).encode())[:-9])
    with pytest.raises(InputError, match="the file is damaged"):
        score_file({"q0": {"a": 1}}, tmp_path / "run.gz", MEASURES)


def test_no_query_in_common_is_told(tmp_path: Path) -> None:
    (tmp_path / "run").write_text(written([(0, "a", "2")]))
    with pytest.raises(InputError, match="none of its 1 queries is judged"):
        score_file({"other": {"a": 1}}, tmp_path / "run", MEASURES)


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 a 1\nq1 0 b -1\nq2 0 c 3\n",
        "query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tb\t0",
        "q1\ta\t1\nq2\tb\t0\n",
        "q1 0 a 1\n\nq1 0 b 2\n",
        "q1 0 a 1\nq1 0 a 1\n",
        "q1 0 a 1.0\n",
        "\ufeffq1 0 a 1\r\n",
        "q1  0 a 1\n",
    ],
)
def test_judgments_read_at_once_are_those_read_line_by_line(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qrels").write_text(text, encoding="utf-8", newline="")
    quick = quick_qrels(tmp_path / "qrels")
    monkeypatch.setattr("recallmeter.evaluation.files.trec.quick_qrels", lambda path: None)
    careful = read_qrels(tmp_path / "qrels")
    assert quick is None or quick == careful
    assert (quick is None) == any(odd in text for odd in ("\n\n", "\ufeff", "1.0", "  ", "a 1\nq1 0 a"))
