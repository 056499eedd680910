"""The door history: run directories, baselines that git keeps, and what it refuses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from recallmeter.experiments.cli import main


@pytest.fixture
def runs(write_run, seal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Six runs, of which the later three lost queries; each begins a day after the other."""
    monkeypatch.chdir(tmp_path)
    lost = {f"q{n:02}": [] for n in range(8)}
    names = []
    for n in range(6):
        folder = write_run(f"r{n}", {"main": {} if n < 3 else lost})
        manifest = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps(manifest | {"started": f"2026-01-{n + 1:02}T00:00:00+00:00"}))
        names.append(seal(folder).name)
    return names


def test_the_page_has_steps_anchor_figure_and_the_queries_of_both_runs(runs: list[str], tmp_path: Path) -> None:
    assert main(["history", *reversed(runs), "-m", "recall@10"]) == 0
    text = (tmp_path / "history.md").read_text()
    assert "**The latest step: main R@10 -33.3 pp at r3.**" in text
    assert "**100.0 → 66.7** at r3" in text
    assert "better on 0 queries, worse on 8." in text
    assert "[The queries of both runs](history-steps/r2..r3.html#view=compare)" in text
    assert (tmp_path / "history-steps" / "r2..r3.html").read_text().startswith("<!doctype html>")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| r")]
    assert [row[0] for row in rows] == ["| run", *(f"| r{n}" for n in range(6))]
    assert [row[6] for row in rows[1:]] == ["anchor", "+0.0", "+0.0", "-33.3", "-33.3", "-33.3"]
    assert (tmp_path / "figures" / "history-0.svg").exists()


def test_html_and_another_anchor(runs: list[str], tmp_path: Path) -> None:
    assert main(["history", *runs, "-m", "recall@10", "-m", "mrr", "--anchor", "r5", "-o", "page.html"]) == 0
    text = (tmp_path / "page.html").read_text()
    assert text.count("<svg") == 2
    assert '<a href="page-steps/r2..r3.html#view=compare">' in text
    assert "+33.3" in text


def test_baselines_are_read_at_every_commit(runs: list[str], tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        quiet = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *quiet, *arguments], cwd=tmp_path / "kept", check=True, capture_output=True)

    (tmp_path / "kept").mkdir()
    git("init", "-q")
    (tmp_path / "kept" / "main.json").write_text("{}")
    git("add", "."), git("commit", "-qm", "no baseline yet")
    for run in ("r0", "r3"):
        (tmp_path / "kept" / "main.json").unlink()
        assert main(["baseline", run, "-o", "kept/main.json"]) == 0
        git("add", "."), git("commit", "-qm", run)
    assert main(["history", "kept", "-m", "recall@10"]) == 0
    text = (tmp_path / "history.md").read_text()
    assert text.count("| main.json at ") == 2
    assert "| -33.3 |" in text


def test_what_is_no_history_is_one_line(runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, words in (
        (["nowhere"], "there is nothing here"),
        (["empty"], "neither a run directory nor a folder of baselines"),
        (["r0"], "at least two runs"),
        (["r0", "r1", "--anchor", "r9"], "there is no run 'r9'"),
    ):
        capsys.readouterr()
        assert main(["history", *arguments]) == 2
        err = capsys.readouterr().err
        assert words in err
        assert err.count("\n") == 1
