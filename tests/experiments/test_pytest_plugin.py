"""The plug-in as an outside project meets it: pytest in a process and a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recallmeter.experiments.cli import main

PROJECT = '''
from recallmeter.datasets.errors import InputError
from recallmeter.retrieval.ranking import Ranking


class Mine:
    """Returns what has any of the question's words in its title, in the order of time."""

    forgets = 0

    def index(self, observations):
        self.observations = [o for number, o in enumerate(observations) if not self.forgets or number % self.forgets]

    def search(self, query, k, *, scope="", asked_at=None):
        words = set(query.lower().split())
        known = [o for o in self.observations if o.scope == scope and (asked_at is None or o.timestamp <= asked_at)]
        found = [(o.id, float(len(words & set(o.title.lower().split())))) for o in known]
        return Ranking.of(sorted((pair for pair in found if pair[1]), key=lambda pair: (-pair[1], pair[0]))[:k])


def test_same(recall_gate):
    assert recall_gate("bm25", baseline="bm25.json", overrides=["protocol.repeats=1"]).verdict == "PASS"


def test_worse(recall_gate):
    recall_gate("bm25", baseline="bm25.json", max_drop=0.0, overrides=["protocol.repeats=1", "systems.bm25.arms.bm25.k1=0"])


def test_unknown(recall_gate):
    recall_gate("bm52", baseline="bm25.json")


def test_new(recall_gate):
    recall_gate(Mine(), baseline="mine.json", overrides=["protocol.repeats=1"])
'''


def pytest_in(folder: Path, *arguments: str, path: str = "") -> str:
    """Run pytest there; return what it printed."""
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("outside")
    run = folder / "runs" / "first"
    assert main(["run", "system=[bm25]", "protocol.repeats=1", f"hydra.run.dir={run}"]) == 0
    assert main(["baseline", str(run), "-o", str(folder / "bm25.json")]) == 0
    (folder / "test_memory.py").write_text(PROJECT)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def test_it_passes_fails_and_tells_as_the_gate_does(project):
    told = pytest_in(project)
    assert "PASSED test_memory.py::test_same" in told
    assert "FAILED test_memory.py::test_worse" in told
    assert "REGRESSION over 2 comparisons" in told
    assert "queries got worse, the worst first:" in told
    assert "--reason TEXT`" in told
    assert "FAILED test_memory.py::test_unknown - Failed: recall_gate: " in told
    assert "FAILED test_memory.py::test_new - Failed: there is no baseline " in told
    assert "Traceback" not in told


@pytest.mark.integration
def test_a_retriever_of_ones_own_is_held_once_its_run_is_kept(project):
    first = pytest_in(project, "-k", "test_new", "--basetemp", str(project / "temporary"))
    assert f"keep it with `recallmeter baseline {project}/temporary" in first
    run = next((project / "temporary").glob("recallmeter*/run"))
    assert main(["baseline", str(run), "-o", str(project / "mine.json")]) == 0
    assert "1 passed" in pytest_in(project, "-k", "test_new")
    text = (project / "test_memory.py").read_text()
    (project / "test_memory.py").write_text(text.replace("forgets = 0", "forgets = 2"))
    assert "REGRESSION  Mine recall@10" in pytest_in(project, "-k", "test_new")
    (project / "test_memory.py").write_text(text)
    (project / "mine.json").unlink()


@pytest.mark.integration
def test_without_the_plugin_pytest_works_and_the_fixture_is_unknown(project):
    (project / "test_other.py").write_text("def test_nothing():\n    pass\n")
    told = pytest_in(project, "-p", "no:recallmeter", "-k", "nothing or same")
    assert "PASSED test_other.py::test_nothing" in told
    assert "fixture 'recall_gate' not found" in told


def test_a_session_that_does_not_use_it_imports_nothing_of_the_project_but_the_plugin():
    code = "import sys, recallmeter.experiments.pytest_plugin; print(*sorted(m for m in sys.modules if m.startswith('recallmeter')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["recallmeter", "recallmeter.experiments", "recallmeter.experiments.pytest_plugin"]


@pytest.mark.integration
def test_it_works_from_the_wheel(project, tmp_path):
    root = Path(__file__).resolve().parents[2]
    wheel = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(root)]
    pytest.importorskip("build", reason="build makes the wheel")
    subprocess.run(wheel, check=True, capture_output=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path / "site")]
    subprocess.run([*install, str(next((tmp_path / "dist").glob("*.whl")))], check=True, capture_output=True)
    site = str(tmp_path / "site")
    (project / "test_where.py").write_text(
        "from recallmeter.experiments import pytest_plugin\n\n\n"
        f"def test_where():\n    assert pytest_plugin.__file__.startswith({site!r})\n"
    )
    told = pytest_in(project, "-k", "where or same or worse", path=site)
    assert "PASSED test_where.py::test_where" in told
    assert "PASSED test_memory.py::test_same" in told
    assert "REGRESSION over 2 comparisons" in told
