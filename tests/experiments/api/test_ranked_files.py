"""Runs in files side by side: the same numbers as our own runs get, and the same words."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.experiments.api.ranked_files import compare_files
from recallmeter.experiments.cli import main

N = 40
QRELS = {f"q{n}": {"right": 1, "wrong": 0} for n in range(N)}
GOOD = {f"q{n}": ["right", "wrong"] for n in range(N)}
WORSE = {f"q{n}": ["wrong", "right"] if n % 2 else ["right"] for n in range(N)}
BAD = {f"q{n}": ["hole", "wrong"] for n in range(N)}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, grades in QRELS.items() for d, g in grades.items()))
    for name, run in (("good", GOOD), ("worse", WORSE), ("bad", BAD)):
        lines = (f"{q} Q0 {d} {rank} {9 - rank} {name}\n" for q, found in run.items() for rank, d in enumerate(found, 1))
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def test_each_is_held_against_the_first() -> None:
    found = compare_files(QRELS, {"good": GOOD, "worse": WORSE, "bad": BAD}, ["mrr"])
    rows = found.summary()
    assert rows[["before", "after", "mean_before", "mean_after", "wins", "ties", "losses"]].to_numpy().tolist() == [
        ["good", "worse", 1.0, 0.75, 0, 20, 20],
        ["good", "bad", 1.0, 0.0, 0, 0, 40],
    ]
    assert rows["adjusted"].between(0, 0.001).all()
    assert rows["low"][0] < -0.25 < rows["high"][0] < 0
    judged, *_ = found.labels
    assert judged == "judged@10 of bad: 100.0 → 50.0 (-50.0 pp); what nobody judged counts as not relevant"
    with pytest.raises(InputError, match="good: there is nothing to compare it with; name another run"):
        compare_files(QRELS, {"good": GOOD})


def test_files_at_the_door_in_every_form(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", "good", "worse", "bad", "--qrels", "qrels", "-m", "mrr", "-m", "recall@1"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "good → worse (40 queries)" in text
    assert "q1: mrr 100.0 → 50.0, recall@1 100.0 → 0.0\n    relevant: right 1 → 2\n    instead:" not in text  # `wrong` was there before
    assert main([*command, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["after"], row["measure"], float(row["mean_after"])) for row in rows] == [
        ("worse", "mrr", 0.75),
        ("worse", "recall@1", 0.5),
        ("bad", "mrr", 0.0),
        ("bad", "recall@1", 0.0),
    ]
    assert main([*command, "--latex"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert r"a & good & \textbf{100.0}$^{bc}$ & \textbf{100.0}$^{bc}$ \\" in lines
    assert r"c & bad & 0.0$^{a}$ & 0.0$^{a}$ \\" in lines
    assert main([*command, "--json", "--fraction"]) == 0
    assert json.loads(capsys.readouterr().out)["comparisons"][0]["overall"][0]["after"] == 0.75


def test_eval_of_several_runs_tests_their_differences(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eval", "--qrels", "qrels", "-m", "mrr", "--run", "good"]
    assert main([*command, "--run", "worse"]) == 0
    table = capsys.readouterr().out.split("\n\n")[2].splitlines()
    assert table[0].split() == ["measure", "n", "before", "after", "Δ", "pp", "95", "%", "interval", "p", "adjusted", "W/T/L", "MDE", "pp"]
    assert table[1].split()[:5] == ["mrr", "40", "100.0", "75.0", "-25.0"]
    assert main([*command, "--run", "worse", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert told["overall"][0]["losses"] == 20
    assert main(command) == 0
    assert "before" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["good", "good"], "good: the run is named twice; name each once"),
        (["good"], "good: there is nothing to compare it with; name another run"),
        (["good", "nope"], "nope: can't read the file"),
    ],
)
def test_what_cannot_be_compared_is_one_line(files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    assert main(["compare", *arguments, "--qrels", "qrels"]) == 2
    assert capsys.readouterr().err.startswith(f"recallmeter: {told}")
