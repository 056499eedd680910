"""`recallmeter eval`: from files to numbers, by the real command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from recallmeter.experiments.cli import main

QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 c 1\nq3 0 d 0\n"
RUN = "q1 Q0 a 1 3.0 x\nq1 Q0 aa 2 2.0 x\nq1 Q0 b 3 2.0 x\nq3 Q0 d 1 1.0 x\nq9 Q0 a 1 1.0 x\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.trec").write_text(RUN)
    return ["--qrels", str(tmp_path / "qrels.txt"), "--run", str(tmp_path / "run.trec")]


def test_the_table(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *files, "-m", "nDCG@10", "-m", "R@5", "-m", "RR", "-m", "P@5"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "measure      n  ceiling  run.trec",
        "ndcg@10      2   100.00     47.51",
        "recall@5     2   100.00     50.00",
        "mrr          2   100.00     50.00",
        "precision@5  2    30.00     20.00",
        "",
        "run.trec: 1 query judged but not in the run, scored 0: q2",
        "run.trec: 1 query in the run but not judged, left out: q9",
        "run.trec: 1 query without a relevant document, left out: q3",
    ]


def test_shares_are_fractions_when_asked_and_sums_are_never_in_per_cent(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for more, row in (([], "recall@5  2   100.00     50.00"), (["--fraction"], "recall@5  2   1.0000    0.5000")):
        assert main(["eval", *files, "-m", "R@5", "-m", "dcg@10", *more]) == 0
        _, first, second, *_ = capsys.readouterr().out.splitlines()
        assert first == row
        assert second.split() == ["dcg@10", "2", "1.8155", "1.2500"]


def test_json_has_everything_in_full(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *files, "-m", "ndcg@10", "--json", "--per-query", "--ties"]) == 0
    told = json.loads(capsys.readouterr().out)
    run = told["runs"]["run.trec"]
    assert told["ceilings"] == {"ndcg@10": 1.0}
    ndcg = 2.5 / (2 + 1 / 1.584962500721156)
    assert run["per_query"] == {"q1": {"ndcg@10": pytest.approx(ndcg)}, "q2": {"ndcg@10": 0.0}, "q3": {"ndcg@10": None}}
    assert run["measures"] == {"ndcg@10": {"mean": pytest.approx(ndcg / 2), "n": 2}}
    assert run["ties"]["ndcg@10"] == {
        "worst": pytest.approx(ndcg / 2),
        "expected": pytest.approx((1 + ndcg) / 4),
        "best": pytest.approx(0.5),
        "queries_moved": 1,
    }
    assert (run["missing"], run["unjudged"], run["unanswerable"], run["repeated"]) == (["q2"], ["q9"], ["q3"], [])


def test_per_query_and_ties_as_text(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *files, "-m", "R@2", "--per-query", "--ties"]) == 0
    out = capsys.readouterr().out
    assert "recall@2  run.trec              1  25.00     37.50  50.00" in out.splitlines()
    assert "run.trec\tq1\t50.00\nrun.trec\tq2\t0.00\nrun.trec\tq3\t–\n" in out


def test_two_runs_side_by_side(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.json").write_text(json.dumps({"q1": {"a": 1.0}, "q2": {"c": 0.5}}))
    assert main(["eval", *files, "--run", str(tmp_path / "other.json"), "-m", "RR"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "measure  n  ceiling  run.trec  other.json",
        "mrr      2   100.00     50.00      100.00",
    ]


def test_without_measures_those_of_a_run(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *files]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:11]] == [
        *("recall@5", "recall@10", "recall_any@5", "recall_any@10", "recall_all@5", "recall_all@10"),
        *("precision@5", "ndcg@10", "mrr", "map"),
    ]


def test_a_threshold_for_every_measure_that_names_none(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *files, "--rel", "2", "-m", "R@5", "-m", "nDCG@10"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:3]] == [
        ["recall(rel=2)@5", "1", "100.00", "100.00"],
        ["ndcg(rel=2)@10", "1", "100.00", "100.00"],
    ]


def test_self_hits_are_removed_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("d1 0 d1 1\nd1 0 d2 1\n")
    (tmp_path / "run").write_text("d1 Q0 d1 1 2 x\nd1 Q0 d2 2 1 x\n")
    files = ["--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run"), "-m", "R@5"]
    recalls = []
    for more in ([], ["--remove-self-hits"]):
        assert main(["eval", *files, *more]) == 0
        recalls.append(capsys.readouterr().out.split()[-1])
    assert recalls == ["100.00", "50.00"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["-m", "ndgc@10"], "did you mean ndcg"),
        (["-m", "recall"], "needs a cut-off"),
        (["--rel", "0"], "rel=0"),
        (["--run", "nowhere.trec"], "nowhere.trec: "),
        (["--frobnicate"], "--frobnicate"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(files: list[str], more: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *files, *more]) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_case_4_nothing_in_common_is_exit_2(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.trec").write_text("qX Q0 d 1 1.0 x\n")
    assert main(["eval", *files]) == 2
    assert "none of its 1 queries is judged (it has 'qX', the judgments have 'q1')" in capsys.readouterr().err


def test_the_door_imports_nothing_heavy() -> None:
    heavy = ("torch", "pandas", "matplotlib", "hydra", "nltk", "scipy", "sentence_transformers")
    code = f"import sys, recallmeter.experiments.doors.eval; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
