"""A measure of one's own, and measures that are not about every query: asked for, gated, swept and compared like recall@10."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from recallmeter.evaluation.record import load_run
from recallmeter.experiments.cli import main

OWN = '''
from dataclasses import dataclass
from recallmeter import QueryMeasure, QueryOutcome


@dataclass(frozen=True)
class Brief(QueryMeasure):
    """Whether something came back, and no more than a few."""

    few: int = 3

    def value(self, outcome: QueryOutcome) -> float | None:
        return float(0 < len(outcome.ids[: self.k]) <= self.few) if outcome.relevant else None
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_measures_here.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


ASKED = "measures=[recall@10,silence,junk@10,stale@10,{_target_: my_measures_here.Brief, k: 5, few: 4}]"
NAME = "my_measures_here.Brief(few=4)@5"


def test_it_is_asked_for_gated_compared_and_ranked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("before", "after"):
        assert main(["run", "system=[bm25,empty]", ASKED, f"hydra.run.dir={name}"]) == 0
    run = load_run(here / "before")
    assert run.measures == ("recall@10", "silence", "junk@10", "stale@10", NAME)
    rows = {row["query"]: row for row in run.per_query if row["system"] == "empty"}
    assert {row["silence"] for row in rows.values() if not row["answerable"]} == {1.0}
    assert {row["silence"] for row in rows.values() if row["answerable"]} == {None}
    assert {row[NAME] for row in rows.values() if row["answerable"]} == {0.0}
    assert run.summary["systems"]["bm25"]["measures"]["silence"]["n"] == run.summary["unanswerable"]
    rules = {"rules": {"own": {"measure": NAME, "max_drop": 5}, "junk": {"measure": "junk@10", "max_drop": 5}}}
    (here / "rules.yaml").write_text(json.dumps({**rules, "on_inconclusive": "pass"}))
    assert main(["baseline", "before", "-o", "baseline.json"]) == 0
    assert main(["gate", "after", "--baseline", "baseline.json", "--rules", "rules.yaml"]) == 0
    capsys.readouterr()
    assert main(["compare", "before", "-m", NAME, "-m", "silence"]) == 0
    assert NAME in capsys.readouterr().out


def test_more_junk_is_a_loss(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same names, but what was silent now answers everything that is asked."""
    asked = "measures=[recall@10,junk@10,silence]"
    assert main(["run", "system=empty", asked, "hydra.run.dir=quiet"]) == 0
    assert main(["run", "system=empty", "systems.empty._target_=recallmeter.Random", asked, "hydra.run.dir=loud"]) == 0
    (here / "rules.yaml").write_text(json.dumps({"rules": {"junk": {"measure": "junk@10", "max_drop": 5}}}))
    assert main(["baseline", "quiet", "-o", "baseline.json"]) == 0
    assert main(["gate", "loud", "--baseline", "baseline.json", "--rules", "rules.yaml"]) == 1
    assert "junk@10" in capsys.readouterr().out


def test_it_is_swept(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "system=bm25", "k=10,20", ASKED, "hydra.sweep.dir=sweep"]) == 0
    capsys.readouterr()
    for measure in (NAME, "junk@10", "silence"):
        assert main(["leaderboard", "sweep", "-m", measure]) == 0
        assert capsys.readouterr().out


def test_files_are_scored_by_it_in_a_process_that_knows_nothing_of_it(here: Path) -> None:
    (here / "qrels").write_text("q 0 a 1\n")
    (here / "run").write_text("q Q0 a 1 1.0 t\n")
    command = [sys.executable, "-m", "recallmeter", "eval", "--qrels", "qrels", "--run", "run", "-m", NAME]
    assert "100.00" in subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_what_is_no_measure_is_refused_in_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "system=bm25", "measures=[{_target_: builtins.dict}]"]) == 2
    assert "measures[0]: {} is no measure" in capsys.readouterr().err
