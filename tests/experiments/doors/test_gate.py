"""The doors compare, baseline and gate: what they print, what they write, and how they end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading

import pytest
from recallmeter.datasets.model import Dataset
from recallmeter.experiments.cli import main

EMPTIED = {f"q{i:02}": ["o39"] for i in range(0, 24, 3)}


@pytest.fixture
def runs(write_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_run("good", {"main": {}, "side": {}})
    write_run("bad", {"main": EMPTIED, "side": {}})
    assert main(["baseline", "good", "-o", "baseline.json"]) == 0
    return tmp_path


def refused(capsys, *arguments):
    """Return the one line that a command is refused with."""
    capsys.readouterr()
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("recallmeter: ")
    assert err.count("\n") == 1
    return err


def test_the_verdict_is_the_exit_code(runs, write_run, capsys):
    assert main(["gate", "good", "--baseline", "baseline.json"]) == 0
    assert main(["gate", "bad", "--baseline", "baseline.json"]) == 1
    assert main(["gate", "bad", "--baseline", "good"]) == 1
    assert main(["gate", "bad", "--baseline", "baseline.json", "--system", "side"]) == 0
    assert main(["gate", "bad", "--baseline", "baseline.json", "--max-drop", "30"]) == 3
    assert main(["gate", "bad", "--baseline", "baseline.json", "--max-drop", "30", "--on-shown-loss", "warn"]) == 0
    write_run("unsure", {"main": {"q00": ["o39"]}, "side": {}})
    assert main(["gate", "unsure", "--baseline", "baseline.json"]) == 0
    assert main(["gate", "unsure", "--baseline", "baseline.json", "--on-inconclusive", "fail"]) == 3
    assert main(["gate", "bad", "--baseline", "baseline.json", "-m", "precision@5", "--max-drop", "60"]) == 0
    assert main(["gate", "good", "--baseline", "baseline.json", "--floor", "P@5=41"]) == 1
    assert main(["gate", "good", "--baseline", "baseline.json", "--tokens", "5"]) == 1
    assert main(["gate", "good", "--baseline", "baseline.json", "--p95-latency", "0.1"]) == 1
    write_run("failed", {"main": {"q05": None}, "side": {}})
    assert main(["gate", "failed", "--baseline", "baseline.json"]) == 4


def test_all_outputs_at_once(runs, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(runs / "summary.md"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(runs / "output"))
    assert main(["gate", "bad", "--baseline", "baseline.json", "--junit", "out/junit.xml", "--github"]) == 1
    assert "::error title=main recall@10%3A REGRESSION::" in capsys.readouterr().out
    assert (runs / "summary.md").read_text().startswith("## ❌ Recallmeter gate: REGRESSION")
    assert (runs / "output").read_text() == "verdict=REGRESSION\n"
    assert '<testsuite package="recallmeter.gate" id="0"' in (runs / "out" / "junit.xml").read_text()
    assert main(["gate", "bad", "--baseline", "baseline.json", "--json", "--github"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["verdict"] == "REGRESSION"
    assert "::error title=main recall@10" in err


def test_nothing_is_judged_aloud_before_every_file_is_written(runs, monkeypatch, capsys):
    assert "the JUnit file can't be written" in refused(capsys, "gate", "good", "--baseline", "baseline.json", "--junit", "baseline.json/x")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(runs / "baseline.json" / "x"))
    assert "see the variable GITHUB_STEP_SUMMARY" in refused(capsys, "gate", "good", "--baseline", "baseline.json", "--github")


def test_outside_github_the_summary_is_printed(runs, monkeypatch, capsys):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("GITHUB_OUTPUT", raising=False)
    assert main(["gate", "good", "--baseline", "baseline.json", "--github"]) == 0
    assert "## ✅ Recallmeter gate: PASS" in capsys.readouterr().out


def test_rules_come_from_a_file_too(runs, capsys):
    (runs / "mine.yaml").write_text("rules: {any: {measure: recall_any@5, max_drop: 1}}\non_inconclusive: warn\n")
    assert main(["gate", "bad", "--baseline", "baseline.json", "--rules", "mine.yaml"]) == 1
    assert "recall_any@5" in capsys.readouterr().out
    assert main(["gate", "good", "--baseline", "baseline.json", "--rules", "by_category"]) == 0


def test_what_cannot_be_judged_is_refused_in_one_line(runs, write_run, memory, capsys):
    half = Dataset(memory.name, memory.observations, memory.queries[:12])
    write_run("half", {"main": {}, "side": {}}, dataset=half)
    write_run("fewer", {"main": {}})
    assert "different data sets" in refused(capsys, "gate", "half", "--baseline", "baseline.json")
    assert "'side' is in the baseline" in refused(capsys, "gate", "fewer", "--baseline", "baseline.json")
    assert "no rules 'nowhere'" in refused(capsys, "gate", "good", "--baseline", "baseline.json", "--rules", "nowhere")
    assert "is not MEASURE=PERCENT" in refused(capsys, "gate", "good", "--baseline", "baseline.json", "--floor", "recall@10")
    assert "alpha 7.0 is not" in refused(capsys, "gate", "good", "--baseline", "baseline.json", "--alpha", "7")
    assert "there is no system 'x'" in refused(capsys, "gate", "good", "--baseline", "baseline.json", "--system", "x")
    assert "not a run directory" in refused(capsys, "gate", "nothing", "--baseline", "baseline.json")
    assert "can't be read" in refused(capsys, "gate", "good", "--baseline", "none.json")
    text = (runs / "baseline.json").read_text()
    (runs / "baseline.json").write_text(text[: len(text) // 2])
    assert "broken JSON" in refused(capsys, "gate", "good", "--baseline", "baseline.json")
    (runs / "baseline.json").write_text(text.replace('"values": [1, 1,', '"values": [1.7, 1,', 1))
    assert "recall@5 is 1.7" in refused(capsys, "gate", "good", "--baseline", "baseline.json")
    (runs / "baseline.json").write_text(text.replace('"values": [1, 1,', '"values": [0.5, 1,', 1))
    assert "it was changed since it was written" in refused(capsys, "gate", "good", "--baseline", "baseline.json")


def test_a_run_that_was_touched_up_is_believed_nowhere(runs, capsys):
    path = runs / "bad" / "per_query.csv"
    path.write_text(path.read_text().replace(",0.0", ",1.0"))
    for command in ("gate bad --baseline baseline.json", "gate good --baseline bad", "compare bad", "baseline bad -o new.json"):
        assert "bad/per_query.csv: was changed after the run" in refused(capsys, *command.split())


def test_a_data_set_without_answers_is_named_as_the_cause(runs, write_run, memory, capsys):
    silent = Dataset("silent", memory.observations, tuple(query for query in memory.queries if not query.answerable))
    write_run("silent", {"main": {}, "side": {}}, dataset=silent)
    for arguments in (["gate", "silent", "--baseline", "silent"], ["compare", "silent"], ["baseline", "silent", "-o", "new.json"]):
        assert re.search("no query of the data set (silent|of main) has an answer", refused(capsys, *arguments))
    assert not (runs / "new.json").exists()


def test_rows_lost_from_a_run_are_missed(runs, seal, capsys):
    path = runs / "good" / "per_query.csv"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("main,q1")))
    seal(path.parent)
    assert "10 of 25 queries of main are missing" in refused(capsys, "gate", "good", "--baseline", "baseline.json")


def test_a_baseline_rises_by_the_ratchet_and_falls_by_a_reason(runs, capsys):
    assert "there is a baseline already" in refused(capsys, "baseline", "bad", "-o", "baseline.json")
    assert "--reason TEXT" in refused(capsys, "baseline", "bad", "-o", "baseline.json", "--ratchet")
    assert main(["baseline", "bad", "-o", "baseline.json", "--reason", "labels mended"]) == 0
    assert json.loads((runs / "baseline.json").read_text())["reasons"][0].startswith("labels mended (main recall@5 falls")
    assert main(["baseline", "good", "-o", "baseline.json", "--ratchet"]) == 0
    assert "no gain is shown" in refused(capsys, "baseline", "good", "-o", "baseline.json", "--ratchet")
    assert "--roll keeps the anchor" in refused(capsys, "baseline", "bad", "-o", "baseline.json", "--roll", "--ratchet")
    assert main(["baseline", "bad", "-o", "baseline.json", "--roll"]) == 0
    assert main(["gate", "bad", "--baseline", "baseline.json"]) == 1
    assert "main recall@10 since the anchor" in capsys.readouterr().out
    assert main(["baseline", "good", "-o", "baseline.json", "--roll"]) == 0
    assert main(["gate", "good", "--baseline", "baseline.json"]) == 0


def test_a_baseline_that_cannot_be_written_is_one_line(runs, capsys):
    assert "the baseline can't be written" in refused(capsys, "baseline", "good", "-o", "good/run.json/x")


def test_a_pipe_gets_the_baseline_and_is_not_read_for_an_older_one(runs, capsys):
    pipe = runs / "pipe"
    os.mkfifo(pipe)
    heard = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    reader.start()
    capsys.readouterr()
    assert main(["baseline", "good", "-o", "pipe"]) == 0
    reader.join(5)
    assert heard == [(runs / "baseline.json").read_text()]
    assert pipe.is_fifo()
    assert capsys.readouterr().out == ""


def test_a_baseline_of_some_systems(runs, capsys):
    assert main(["baseline", "good", "-o", "main.json", "--system", "main"]) == 0
    assert list(json.loads((runs / "main.json").read_text())["systems"]) == ["main"]
    assert "there is no system 'x'" in refused(capsys, "baseline", "good", "-o", "other.json", "--system", "x")


def test_systems_of_one_run_are_compared_with_its_first(runs, capsys):
    assert main(["compare", "bad", "-m", "recall@10", "--queries", "1"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("main → side (24 queries)")
    assert "… and 7 more queries" in told
    assert "paired randomisation" in told


def test_runs_are_compared_system_by_system_or_as_named(runs, capsys):
    assert main(["compare", "good", "bad", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(c["before"], c["after"]) for c in found["comparisons"]] == [("good:main", "bad:main"), ("good:side", "bad:side")]
    assert [len(c["changed"]) for c in found["comparisons"]] == [8, 0]
    assert main(["compare", "good:side", "bad:main", "--markdown", "--test", "t", "--correction", "bh"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("## good:side → bad:main")
    assert "Student's paired t" in told
    assert "Benjamini–Hochberg" in told


def test_a_difference_that_ties_decide_is_marked(runs, seal, capsys):
    trec = runs / "bad" / "rankings" / "side.trec"
    lines = [line.split() for line in trec.read_text().splitlines()]
    lines += [[line[0], "Q0", f"z{i:02}", "0", "1.0", "side"] for line in lines[::2] for i in range(10)]
    trec.write_text("".join(" ".join([*line[:4], "1.0", "side"]) + "\n" for line in lines))
    seal(runs / "bad")
    assert main(["compare", "bad", "-m", "recall@10"]) == 0
    assert "note: recall@10 of side hangs on ties: with the worst order for the winner" in capsys.readouterr().out


def test_comparisons_without_a_counterpart_are_refused(runs, write_run, capsys):
    write_run("alone", {"only": {}})
    assert "nothing to compare it with" in refused(capsys, "compare", "alone")
    assert "nothing to compare it with" in refused(capsys, "compare", "good:main")
    assert "no system of it is in good" in refused(capsys, "compare", "good", "alone")
    assert "there is no system 'x'" in refused(capsys, "compare", "good:main", "bad:x")
    assert "not a run directory" in refused(capsys, "compare", "good", "missing")
    assert "-1 queries can't be shown" in refused(capsys, "compare", "good", "bad", "--queries", "-1")


def test_judging_stored_runs_imports_nothing_heavy(runs):
    heavy = "torch", "pandas", "matplotlib", "hydra", "nltk", "sentence_transformers", "scipy.stats"
    code = (
        "import sys; from recallmeter.experiments.cli import main; "
        f"main(['gate', 'bad', '--baseline', 'baseline.json']); print(sorted(set({heavy!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
