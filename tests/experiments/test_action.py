"""The GitHub action: its steps run as a runner would run them, and end as the gate ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
STEPS = {step["name"]: step for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]}


def perform(step: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run one step's script with its inputs filled in."""
    defaults = {name: spec["default"] for name, spec in yaml.safe_load((ROOT / "action.yml").read_text())["inputs"].items()}
    given = {**defaults, **inputs}

    def filled(expression: str) -> str:
        name, default = re.fullmatch(r"\$\{\{ inputs\.(\w+)(?: \|\| '([^']*)')? \}\}", expression).groups()
        return given[name] or default or ""

    variables = {name: filled(expression) for name, expression in STEPS[step]["env"].items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    files = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_OUTPUT": str(folder / "output")}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[step]["run"]]
    return subprocess.run(
        script, cwd=folder, env={**os.environ, **variables, **files, "PATH": path}, capture_output=True, text=True, check=False
    )


def test_every_expression_reads_an_input_that_exists():
    text = (ROOT / "action.yml").read_text()
    inputs = set(yaml.safe_load(text)["inputs"])
    assert set(re.findall(r"inputs\.(\w+)", text)) == inputs


@pytest.fixture
def runs(write_run, tmp_path):
    write_run("good", {"main": {}})
    write_run("bad", {"main": {f"q{i:02}": ["o39"] for i in range(0, 24, 3)}})
    subprocess.run([sys.executable, "-m", "recallmeter", "baseline", "good"], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_the_gate_step_ends_as_the_gate_ends_and_tells_the_runner(runs):
    assert perform("Gate", runs, run="good").returncode == 0
    assert (runs / "output").read_text() == "verdict=PASS\n"
    done = perform("Gate", runs, run="bad", junit="out dir/junit.xml", gate="--max-drop 1 --on-inconclusive warn")
    assert done.returncode == 1
    assert "::error title=main recall@10%3A REGRESSION" in done.stdout
    assert (runs / "out dir" / "junit.xml").is_file()
    assert "Recallmeter gate: REGRESSION" in (runs / "summary.md").read_text()
    assert perform("Gate", runs, run="nowhere").returncode == 2


@pytest.mark.integration
def test_the_run_step_leaves_a_run_for_the_gate(runs):
    done = perform("Run", runs, overrides="system=[bm25] protocol.repeats=1")
    assert done.returncode == 0, done.stderr
    assert perform("Gate", runs, baseline=".recallmeter/run").returncode == 0
    assert perform("Run", runs, overrides="system=[nothing]").returncode != 0
