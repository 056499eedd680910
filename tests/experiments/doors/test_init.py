"""What `recallmeter init` writes runs at once: its commands, its test and its workflow."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from recallmeter.experiments.cli import main

PROGRAM = "import sys; from recallmeter.experiments.cli import main; sys.exit(main())"


THINGS = ("gate", "door", "roof", "wall", "tower", "fence")
WORDS = [f"{colour}{thing}" for colour in ("red", "blue", "green", "black", "white") for thing in THINGS]


def command(line: str, folder: Path) -> str:
    """Run one line of a README or a workflow there, with this environment's own programs; return what it printed."""
    name, *arguments = shlex.split(line)
    program = {"recallmeter": ["-c", PROGRAM], "pytest": ["-m", "pytest", "-q", "-p", "no:cacheprovider"]}[name]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    done = subprocess.run([sys.executable, *program, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def lines_of(folder: Path) -> list[str]:
    """Return the commands of the README that was written, and those of the workflow that install nothing."""
    readme = re.search(r"```bash\n(.*?)```", (folder / "mine" / "README.md").read_text(), re.DOTALL)
    assert readme
    workflow = yaml.safe_load((folder / ".github/workflows/recallmeter.yml").read_text())
    steps = [step["run"] for step in workflow["jobs"]["recall"]["steps"] if "run" in step]
    assert steps[0].startswith("pip install recallmeter==")
    return [*readme.group(1).splitlines(), *steps[1:]]


def test_everything_that_it_writes_runs_at_once(tmp_path: Path) -> None:
    assert "my_memory" in command("recallmeter init", tmp_path)
    lines = lines_of(tmp_path)
    assert [line.split()[0] for line in lines] == ["recallmeter"] * 3 + ["pytest"] + ["recallmeter"] * 2
    told = [command(line, tmp_path) for line in lines]
    assert told[2].startswith("PASS")
    assert "1 passed" in told[3]
    assert (tmp_path / "mine/runs/explorer.html").exists()


def test_with_tables_of_ones_own_and_a_memory_that_forgets(tmp_path: Path) -> None:
    rows = "".join(f"{n:03},the {word} was painted\n" for n, word in enumerate(WORDS))
    (tmp_path / "memories.csv").write_text(f"id,text\n{rows}")
    (tmp_path / "questions.csv").write_text("question,relevant\n" + "".join(f"where is the {w}?,{n:03}\n" for n, w in enumerate(WORDS)))
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / ".github/workflows/recallmeter.yml").write_text("mine: {}\n")
    told = command("recallmeter init --name notes --memories memories.csv --questions questions.csv", tmp_path)
    assert "memories.csv: 30 rows; id, text" in told
    assert (tmp_path / "mine/data/observations.jsonl").read_text().count("\n") == 30
    assert (tmp_path / ".github/workflows/recallmeter.yml").read_text() == "mine: {}\n", "one that is there stays"
    module = tmp_path / "mine/notes.py"
    module.write_text(module.read_text().replace("list(observations)", "list(observations)[:10]"))
    with pytest.raises(AssertionError, match="REGRESSION"):
        command("pytest mine", tmp_path)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["--name", "My Memory"], "no name of a Python module"),
        (["--name", "bm25"], "there is a built-in system 'bm25'"),
        (["webapp"], "there is a built-in data set 'webapp'"),
        (["a b"], "characters that a shell reads"),
        (["--memories", "m.csv"], "without questions"),
        (["--questions", "q.csv"], "without memories"),
        (["--memories", "m.csv", "--questions", "q.csv"], "m.csv: can't read the file"),
        (["taken"], "not empty"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(
    line: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    assert main(["init", *line]) == 2
    assert told in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
