"""The front door: names that cost nothing until they are used, and a wheel that holds everything and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

import recallmeter

ROOT = Path(__file__).resolve().parents[1]
FLOORS = ("datasets", "retrieval", "evaluation", "reports", "experiments")
STUB = (ROOT / "recallmeter" / "__init__.pyi").read_text(encoding="utf-8")


def test_every_name_is_what_the_stub_says() -> None:
    lines = [line for line in STUB.splitlines() if line.startswith("from ")]
    found = [re.fullmatch(r"from \.([\w.]+) import (\w+) as (\w+)", line) for line in lines]
    assert recallmeter.__all__ == sorted(match.group(2) for match in found if match)
    for match in found:
        assert match, "a line of the stub is not of the form that the package reads"
        assert match.group(2) == match.group(3), "type checkers take a renamed import for a private one"
        module = import_module(f"recallmeter.{match.group(1)}")
        assert getattr(recallmeter, match.group(2)) is getattr(module, match.group(2))


def test_an_unknown_name_is_refused_as_of_any_module() -> None:
    with pytest.raises(AttributeError, match="BM26"):
        _ = recallmeter.BM26
    assert {"BM25", "Dataset", "__version__"} <= set(dir(recallmeter))


@pytest.mark.parametrize("code", ["import recallmeter", "from recallmeter.experiments.cli import main; main(['--version'])"])
def test_neither_the_import_nor_the_version_loads_a_library(code: str) -> None:
    program = f"import sys; before = set(sys.modules); {code}; print(*sorted({{m.split('.')[0] for m in set(sys.modules) - before}}))"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.splitlines()[-1].split()
    assert set(loaded) - sys.stdlib_module_names == {"recallmeter"}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel, unpacked; built from a copy, since setuptools takes in what an earlier build left in ``build/``."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in (*FLOORS, "conf", "recallmeter"):
        shutil.copytree(ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "source")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(folder / "source")]
    subprocess.run(build, check=True, capture_output=True)
    (packed,) = folder.glob("*.whl")
    zipfile.ZipFile(packed).extractall(folder / "site")
    return folder / "site"


def test_the_wheel_holds_every_module_and_asset_and_nothing_else(wheel: Path) -> None:
    held = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file() and ".dist-info/" not in path.as_posix()}
    floors = {path.relative_to(ROOT).as_posix() for name in (*FLOORS, "conf") for path in (ROOT / name).rglob("*") if path.is_file()}
    door = {path.name for path in (ROOT / "recallmeter").iterdir() if path.is_file()}  # the one floor that is the package itself
    # all but the committed reports and what Python caches
    expected = {f"recallmeter/{name}" for name in floors | door if not name.endswith((".md", ".svg", ".png", ".pyc"))}
    assert held == expected


CONSUMER = """
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import recallmeter as rm


class Mine:
    def index(self, observations: Sequence[rm.Observation]) -> None:
        self.memory = list(observations)

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> rm.Ranking:
        return rm.Ranking.of([(o.id, 1.0) for o in self.memory if o.scope == scope][:k])


run: rm.Run = rm.evaluate(rm.load_dataset("webapp", sessions=60), {"mine": Mine(), "bm25": rm.system("bm25")}, k=20)
rows: int = len(run.summary())
page: Path = run.save("runs/kept").report("report.md")
difference: float | None = rm.compare(rm.read_run("runs/before"), run).comparisons[0].overall[0].interval.low
verdict: str = rm.gate(run, "baseline.json", max_drop=2.0).verdict
recall: float = rm.score({"q": {"a": 1}}, {"q": {"a": 0.5}}, ["recall@5"])["recall@5"]
best: float = rm.sweep("system=dual", grid={"k": [10, 20]}).board.rows[0].mean
wrong: int = rm.gate(run, run).verdict
"""


def test_type_checkers_know_every_public_name_of_the_wheel(wheel: Path, tmp_path: Path) -> None:
    names = "\n".join(f"from recallmeter import {name} as {name}" for name in recallmeter.__all__)
    (tmp_path / "names.py").write_text(f"# pyright: strict, reportUnusedImport=false\n{names}\n", encoding="utf-8")
    (tmp_path / "consumer.py").write_text(f"# pyright: strict\n{CONSUMER}", encoding="utf-8")
    settings = {"include": ["*.py"], "extraPaths": [str(wheel)], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    check = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(tmp_path), "--outputjson"]
    found = json.loads(subprocess.run(check, capture_output=True, text=True).stdout)["generalDiagnostics"]
    told = [one["message"].splitlines()[0] for one in found]
    assert told == ['Type "str" is not assignable to declared type "int"'], "the last line is wrong, and nothing else"
