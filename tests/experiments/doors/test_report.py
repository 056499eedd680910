"""The door report: where its files go, and how it ends when they cannot go there."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from recallmeter.evaluation.record import load_run
from recallmeter.experiments.cli import main


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "run"
    assert main(["run", "system=[grep,random]", f"hydra.run.dir={folder}"]) == 0
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line that a command is refused with."""
    capsys.readouterr()
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize("name", ["file/x.md", "n" * 300, "folder"])
def test_what_cannot_be_written_is_one_line(run: Path, here: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (here / "file").write_text("")
    (here / "folder").mkdir()
    assert "can't be written" in refused(capsys, "report", str(run), "-o", name)
    assert "can't be written" in refused(capsys, "report", str(run), "--html", name)


def test_a_folder_that_cannot_be_looked_at_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "too long" in refused(capsys, "report", "n" * 300)
    assert "too long" in refused(capsys, "report", "n" * 300, "--html", "x.html")


def test_a_report_without_answers_and_one_without_recall_at_ten(here: Path) -> None:
    (here / "data").mkdir()
    (here / "data" / "queries.jsonl").write_text('{"id": "q", "text": "unheard of"}\n')
    observation = {"id": "o", "session_id": "s", "timestamp": "2024-01-01T00:00:00Z", "type": "note", "title": "a note"}
    (here / "data" / "observations.jsonl").write_text(json.dumps(observation) + "\n")
    assert main(["run", "system=grep", "dataset=jsonl", "dataset.path=data", "hydra.run.dir=silent"]) == 0
    assert main(["report", "silent"]) == 0
    assert "**There is nothing to rank.**" in (here / "report.md").read_text()
    assert not (here / "figures").exists()
    assert main(["run", "system=[grep,random]", "measures=[recall@5]", "hydra.run.dir=other"]) == 0
    assert main(["report", "other"]) == 0
    assert "% R@5" in (here / "report.md").read_text()
    assert main(["report", "silent", "--html", "page.html"]) == 0
    assert main(["report", "other", "--html", "page.html"]) == 0


def test_a_run_of_controls_alone_has_a_report(here: Path) -> None:
    assert main(["run", "system=random", "hydra.run.dir=chance"]) == 0
    assert main(["report", "chance"]) == 0
    assert "**random** reaches" in (here / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        (["-o", "x.html"], "<!doctype html>"),
        (["-o", "x.tex"], "% Compile"),
        (["--format", "json"], "{"),
        (["--format", "latex", "-o", "x.md"], "% Compile"),
    ],
)
def test_the_format_is_named_or_follows_from_the_file(run: Path, here: Path, arguments: list[str], begins: str) -> None:
    assert main(["report", str(run), *arguments]) == 0
    (written,) = (path for path in here.iterdir() if path.is_file())
    assert written.name == {"--format": "report.json"}.get(arguments[0], arguments[-1]) if "-o" not in arguments else arguments[-1]
    assert written.read_text().startswith(begins)


def test_the_report_repeats_the_command_line_of_its_run(run: Path) -> None:
    assert load_run(run).manifest["command"] == ["recallmeter", "run", "system=[grep,random]"]


@pytest.mark.parametrize("name", ["per_query.csv", "config.yaml", "summary.json", "rankings/grep.trec"])
def test_a_run_that_was_touched_up_is_believed_nowhere(run: Path, here: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    touched = shutil.copytree(run, here / "touched")
    (touched / name).write_text("")
    assert "was changed after the run" in refused(capsys, "report", "touched")
    assert "was changed after the run" in refused(capsys, "report", "touched", "--html", "page.html")


def test_report_and_explorer_are_two_files(run: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "can't be one file" in refused(capsys, "report", str(run), "-o", "x.md", "--html", "./x.md")
    assert not list(here.iterdir())


def test_the_figures_go_beside_the_file_at_the_end_of_a_link(run: Path, here: Path) -> None:
    (here / "links").mkdir()
    (here / "links" / "out").symlink_to(here / "report.md")
    assert main(["report", str(run), "-o", "links/out"]) == 0
    assert sorted(path.name for path in here.iterdir()) == ["figures", "links", "report.md"]
    assert [path.name for path in (here / "links").iterdir()] == ["out"]


def test_a_pipe_gets_the_report_and_the_figures_go_here(run: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = here / "elsewhere" / "pipe"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    reader.start()
    capsys.readouterr()
    assert main(["report", str(run), "-o", str(pipe)]) == 0
    reader.join(5)
    assert "(figures/pipe-quality.svg)" in heard[0]
    assert capsys.readouterr().out == ""
    assert (here / "figures" / "pipe-quality.svg").is_file()
    assert list(pipe.parent.iterdir()) == [pipe]
    assert pipe.is_fifo()
