"""The protocol page shows the examples as they are, and every example is one that runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml
from recallmeter.evaluation.record import load_run
from recallmeter.experiments.cli import main
from recallmeter.retrieval.external.http import Http

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "protocol.md").read_text(encoding="utf-8")
SHOWN = dict(re.findall(r"<!-- example: (\S+) -->\n```\w+\n(.*?)\n```", PAGE, re.DOTALL))


def test_every_example_is_shown_as_it_is():
    files = {
        str(path.relative_to(DOCS / "examples"))
        for path in (DOCS / "examples").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert set(SHOWN) == files
    for name, code in SHOWN.items():
        assert code == (DOCS / "examples" / name).read_text(encoding="utf-8").rstrip(), name


def test_the_memory_in_javascript_takes_40_lines():
    assert len(SHOWN["memory.mjs"].splitlines()) == 40


def test_a_yaml_of_ones_own_and_one_command_put_a_memory_into_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if shutil.which("node") is None:
        pytest.skip("needs node")
    monkeypatch.chdir(DOCS.parent)
    command = ["run", "--config-dir", "docs/examples/conf", "system=[bm25,ours]", "protocol.repeats=1", f"hydra.run.dir={tmp_path / 'run'}"]
    assert main(command) == 0
    run = load_run(tmp_path / "run")
    assert set(run.systems) == {"bm25", "ours"}
    assert 0 < run.summary["systems"]["ours"]["measures"]["recall@10"]["mean"] < 1


def test_the_description_of_a_foreign_server_is_accepted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_TOKEN", "Bearer 123")
    settings = yaml.safe_load(SHOWN["conf/system/server.yaml"])
    assert settings.pop("_target_").endswith(".Http")
    assert Http(**settings).batch == 1


def test_what_the_page_refers_to_is_there():
    for name in re.findall(r"docs/examples/[\w./]+", PAGE):
        assert (DOCS.parent / name).exists(), name
    for anchor in re.findall(r"\]\(#([\w-]+)\)", PAGE):
        headings = [
            re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
        ]
        assert anchor in headings
