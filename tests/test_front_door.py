"""The front door: names that cost nothing until they are used, and a wheel that holds everything and nothing else."""

from __future__ import annotations

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
    expected = {f"recallmeter/{name}" for name in floors | door if not name.endswith((".md", ".svg", ".pyc"))}
    assert held == expected
