"""`recallmeter systems`: every system has its line; what is missing is told with what to install."""

from __future__ import annotations

import tomllib
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from recallmeter.experiments.cli import main
from recallmeter.experiments.doors import systems
from recallmeter.experiments.paths import CONF

ROOT = Path(__file__).resolve().parents[3]


def lines(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    assert main(["systems"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["system", "state"]
    return {row.split()[0]: row for row in rows}


def test_every_system_has_a_line_that_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    told = lines(capsys)
    assert list(told) == sorted(path.stem for path in (CONF / "system").glob("*.yaml"))
    assert all(len(row.split()) > 4 for row in told.values())
    assert "ready" in told["grep"]
    assert "ready" in told["sqlite_fts5"]
    assert "set systems.process.command " in told["process"]
    assert "set systems.http.index_url systems.http.search_url " in told["http"]


def test_a_missing_package_is_told_with_the_extra_that_brings_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(package: str) -> str:
        if package == "chromadb":
            raise PackageNotFoundError(package)
        return "1.2.3"

    monkeypatch.setattr(systems, "version", version)
    told = lines(capsys)
    assert 'pip install "recallmeter[chroma]"  (no chromadb)' in told["chroma"]
    assert "ready (mem0ai 1.2.3, qdrant-client 1.2.3)" in told["mem0"]


def test_each_adapter_with_packages_has_an_extra_of_its_name_that_brings_them() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    adapters = {"chroma": "Chroma", "qdrant": "Qdrant", "lancedb": "LanceDB", "mem0": "Mem0", "tantivy": "Tantivy", "bm25s": "Bm25s"}
    for module, name in {**adapters, "langchain": "LangChain", "llamaindex": "LlamaIndex"}.items():
        packages = getattr(import_module(f"{systems.OURS}libraries.{module}"), name).packages
        wanted = {requirement.split(">=")[0] for requirement in extras[module]}
        assert packages
        assert wanted <= set(packages), module


def test_systems_of_ones_own_are_listed_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "system").mkdir()
    (tmp_path / "own_listed_memory.py").write_text("class Mine:\n    pass\n")
    for name, target in {"mine": "own_listed_memory.Mine", "lost": "own_listed_memory.Lost"}.items():
        (tmp_path / "system" / f"{name}.yaml").write_text(f"# A memory of ours.\n# @package systems.{name}\n_target_: {target}\n")
    assert main(["systems", "--config-dir", str(tmp_path)]) == 0
    told = {row.split()[0]: row for row in capsys.readouterr().out.splitlines()}
    assert "ready" in told["mine"]
    assert "can't be imported" in told["lost"]
    assert "Lost" in told["lost"]
    assert "bm25" in told
    assert main(["systems", "--config-dir", str(tmp_path / "nowhere")]) == 2
    assert "no such folder" in capsys.readouterr().err
