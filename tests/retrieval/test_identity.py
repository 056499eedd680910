"""What shapes a value is what its identity changes with; what doesn't, isn't."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recallmeter.retrieval.identity import differing, identity, identity_of


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def moved(settings: dict[str, Any], change: Callable[[], object]) -> str:
    """Return which parts of the identity a change moves."""
    before = identity(settings)
    change()
    after = identity(settings)
    assert (before.key == after.key) == (before.parts == after.parts)
    return differing(before.parts, after.parts)


def test_a_file_that_a_setting_names_counts_by_its_content(here: Path) -> None:
    (here / "syn.yaml").write_text("[car, bicycle]")
    settings = {"arms": {"bm25": {"_target_": "recallmeter.BM25", "synonyms": "syn.yaml"}}}
    assert moved(settings, lambda: (here / "syn.yaml").write_text("[car, automobile]")) == "file syn.yaml"
    assert moved(settings, lambda: (here / "syn.yaml").touch()) == ""


def test_foreign_code_counts_with_the_local_modules_that_it_takes_in(here: Path) -> None:
    (here / "memories").mkdir()
    (here / "memories" / "__init__.py").write_text("")
    (here / "memories" / "deep.py").write_text("from . import deeper\nfrom .tables import WORDS\nimport json, numpy\n")
    (here / "memories" / "deeper.py").write_text("import importlib\nimportlib.import_module('lazy')\n")
    (here / "memories" / "tables.py").write_text("WORDS = open('words.txt')\n")
    (here / "memories" / "unused.py").write_text("")
    (here / "lazy.py").write_text("A = 1\n")
    (here / "words.txt").write_text("a")
    settings = {"systems": {"p": {"_target_": "memories.deep.Memory"}}}
    found = identity(settings)
    assert found.unknown == ()
    assert "numpy" in [name.removeprefix("package ") for name in found.parts]
    cases = {
        "memories/__init__.py": "module memories",
        "memories/deep.py": "module memories.deep",
        "memories/deeper.py": "module memories.deeper",
        "memories/tables.py": "module memories.tables",
        "memories/unused.py": "",
        "lazy.py": "module lazy",
        "words.txt": "file ../words.txt",
    }
    for file, name in cases.items():
        assert moved(settings, lambda file=file: (here / file).write_text((here / file).read_text() + "\n# changed\n")) == name
    assert "memories" not in sys.modules, "nobody's code is run to be told apart"


def test_a_cycle_of_imports_ends(here: Path) -> None:
    (here / "one.py").write_text("import two\nNAME = 'one.py'\n")
    (here / "two.py").write_text("import one\n")
    assert {"module one", "module two"} <= identity({"_target_": "one.Memory"}).parts.keys()


def test_a_module_that_is_not_python_after_all_counts_by_its_content(here: Path) -> None:
    (here / "odd.py").write_bytes(b"\xff\xfe not python (")
    assert moved({"_target_": "odd.Memory"}, lambda: (here / "odd.py").write_bytes(b"(((")) == "module odd"


def test_a_program_counts_by_its_file_and_what_that_takes_in(here: Path) -> None:
    (here / "app").mkdir()
    (here / "app" / "memory.py").write_text("import store\n")
    (here / "app" / "store.py").write_text("A = 1\n")
    (here / "app" / "memory.mjs").write_text("import {a} from './store.mjs'\nimport fs from 'fs'\n")
    (here / "app" / "store.mjs").write_text("export const a = require('./deep').b\n")
    (here / "app" / "deep.mjs").write_text("b = 1\n")
    python = f"{sys.executable} memory.py"
    settings = {"systems": {"process": {"_target_": "recallmeter.Process", "command": python, "cwd": "app"}}}
    assert identity(settings).unknown == ()
    assert moved(settings, lambda: (here / "app" / "memory.py").write_text("import store  # changed\n")) == "file memory.py"
    assert moved(settings, lambda: (here / "app" / "store.py").write_text("A = 2\n")) == "module store"
    shell = {"command": [shutil.which("sh") or "sh", "memory.mjs"], "cwd": "app"}
    assert moved(shell, lambda: (here / "app" / "deep.mjs").write_text("b = 2\n")) == "file deep.mjs"
    module = {"command": f"{sys.executable} -m store", "cwd": "app"}
    assert moved(module, lambda: (here / "app" / "store.py").write_text("A = 3\n")) == "module store"
    assert identity(module).unknown == ()


def test_what_cannot_be_known_is_said_unless_it_has_a_version(here: Path) -> None:
    (here / "remote.py").write_text("import urllib.request\nfrom http import client\n")
    told = {
        "systems.http: what is behind it may change": {"_target_": "recallmeter.Http", "index_url": "/i", "search_url": "/s"},
        "systems.index: http://localhost may change": {"_target_": "recallmeter.QdrantVectors", "url": "http://localhost:6333"},
        "systems.remote: it reaches servers through http.client": {"_target_": "remote.Memory"},
        "systems.program.command: what `sh` starts can't be told from the command": {
            "_target_": "recallmeter.Process",
            "command": "sh -c memory",
        },
    }
    for line, spec in told.items():
        name = line.split(":")[0].split(".")[1]
        assert line in identity({"systems": {name: spec}}).unknown
        assert identity({"systems": {name: {**spec, "version": "2026-11"}}}).unknown == ()
    assert identity({"systems": {"p": {"_target_": "no_such_module.Memory"}}}).unknown == (
        "systems.p: the code of no_such_module.Memory is in no file",
    )


def test_another_version_is_another_identity() -> None:
    one, two = ({"_target_": "recallmeter.Http", "index_url": "http://h/i", "search_url": "http://h/s", "version": v} for v in (1, 2))
    assert differing(identity(one).parts, identity(two).parts) == "settings"


def test_a_data_set_counts_by_its_fingerprint_alone(here: Path) -> None:
    (here / "d.jsonl").write_text("a")
    settings = {"dataset": {"path": "d.jsonl"}, "k": 5}
    before = identity(settings, "f1")
    (here / "d.jsonl").write_text("b")
    assert identity(settings, "f1") == before
    assert differing(before.parts, identity(settings, "f2").parts) == "data"


def test_the_versions_of_what_computes_count(monkeypatch: pytest.MonkeyPatch) -> None:
    from recallmeter.retrieval import identity as module

    before = identity({"_target_": "recallmeter.Bm25s"})
    monkeypatch.setattr(module, "package_version", lambda name: "99")
    assert "package bm25s" in differing(before.parts, identity({"_target_": "recallmeter.Bm25s"}).parts)


class Mine:
    batch_size = 4

    def __init__(self, model: str = "mine", scale: float = 1.0) -> None:
        self.model, self.scale = model, scale


def test_an_encoder_of_the_users_counts_by_its_code_and_its_state() -> None:
    assert identity_of(Mine()) == identity_of(Mine())
    assert identity_of(Mine()).key != identity_of(Mine(scale=2.0)).key
    assert identity_of(Mine()).key != identity_of(Mine("other")).key
    assert "module test_identity" in identity_of(Mine()).parts or any("test_identity" in name for name in identity_of(Mine()).parts)


def test_a_providers_vectors_are_known_by_a_version_alone() -> None:
    from recallmeter.retrieval.embedders.voyage import VoyageEncoder

    assert identity_of(VoyageEncoder()).unknown == ("voyage/" + VoyageEncoder.default_model + ": a provider's model may change",)
    assert identity_of(VoyageEncoder(version="may")).unknown == ()
    assert identity_of(VoyageEncoder(version="may")).key != identity_of(VoyageEncoder(version="june")).key
