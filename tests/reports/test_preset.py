"""The short report of an experiment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recallmeter.datasets.model import Dataset
from recallmeter.evaluation.record import Run, load_run
from recallmeter.experiments.studies.claims import main
from recallmeter.reports.preset import overview, render, sentence, summary, verdicts


@pytest.fixture
def run(write_run: Callable[..., Path], memory: Dataset) -> Run:
    bad = {query.id: ["o39"] for query in memory.queries[:12]}
    slip = {query.id: ["o39", *sorted(query.relevant)] for query in memory.queries[:2]}
    claims: list[dict[str, Any]] = [
        {"says": "bad finds more", "system": "bad", "measure": "recall@10", "expect": "higher"},
        {"says": "bad reads less", "system": "bad", "measure": "tokens", "expect": "lower", "by": 0.02},
        {"says": "slip ranks better", "system": "slip", "measure": "mrr", "expect": "higher"},
    ]
    block = {
        "question": "Is bad good?",
        "baseline": "good",
        "measures": ["recall@10", "silence"],
        "labels": {"bad": "the bad one"},
        "claims": claims,
    }
    return load_run(write_run("run", {"good": {}, "bad": bad, "slip": slip}, config={"claim": block}))


def test_the_verdict_counts_the_claims_and_follows_from_the_numbers(run: Run) -> None:
    lines = summary(run, verdicts(run)).splitlines()
    assert lines[0] == "**1 of 3 claims hold, 1 do not, 1 stay open** on small (24 answerable and 1 unanswerable queries)."
    assert lines[2].startswith(
        "- “bad finds more” **does not hold**: recall@10 100.0 → 50.0 (-50.0 pp, 95 % interval [-68.6, -20.3]; good → bad)"
    )
    assert lines[3].startswith("- “bad reads less” **holds**: tokens 19.2 → 14.4 (-4.8 or -25 %, 95 % interval [-6.9, -2.7]; good → bad)")


def test_an_open_claim_says_what_so_many_queries_would_show(run: Run) -> None:
    text = sentence(verdicts(run)[2])
    assert "**stays open**" in text
    assert "; 24 queries show a change of " in text


def test_the_report_has_question_verdict_systems_meanings_and_claims(run: Run) -> None:
    report = render(run)
    assert report.startswith("# Is bad good?\n\n**1 of 3 claims hold")
    assert "| bad | the bad one | 50.0 [31.4, 68.6] | 100.0 |" in report
    assert "- `silence`: 1 if nothing came back for an unanswerable query" in report
    assert "- `precision`" not in report
    assert "What ingest did" not in report
    assert "| bad finds more | bad | good | recall@10 | 24 | 100.0 | 50.0 | -50.0 | [-68.6, -20.3] |" in report


def test_a_claim_that_cannot_be_measured_is_counted(run: Run) -> None:
    run.config["claim"]["measures"].append("returned_of_many")
    run.config["claim"]["claims"].append({"says": "it", "system": "bad", "measure": "returned_of_many", "expect": "higher"})
    report = render(run)
    assert "**1 of 4 claims hold, 1 do not, 1 stay open, 1 can't be measured** on small" in report
    assert "| bad | the bad one | 50.0 [31.4, 68.6] | 100.0 | – |" in report


def test_what_ingest_did_is_told_step_by_step(run: Run) -> None:
    steps = {"lifecycle": {"removed": 3, "episodic": 5, "semantic": 0, "removed_ids": ["o01", "o02", "o03"]}}
    run.summary["systems"]["good"]["report"] = {"ingest": {"taken_in": 40, "kept": 37, "steps": steps}}
    assert "| good | lifecycle | 3 | episodic 5 |" in render(run)


def test_a_report_is_the_same_each_time(run: Run) -> None:
    assert render(run) == render(load_run(run.path))


def test_several_experiments_are_told_in_one_document(run: Run) -> None:
    told = overview([run, run])
    assert told.count("## Is bad good?\n\n`recallmeter run experiment=run`, small: 1 of 3 claims hold, 1 do not, 1 stay open.") == 2
    assert "| bad finds more | recall@10 | 100.0 | 50.0 | -50.0 | [-68.6, -20.3] |" in told


def test_the_document_is_made_from_run_directories(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(run.path)]) == 0
    assert capsys.readouterr().out == overview([run])
    assert main([str(tmp_path / "nowhere")]) == 2
    assert "not a run directory" in capsys.readouterr().err
