"""The catalogues, each with the real package on data of this machine; the network is never asked."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.hugging_face import load_hugging_face
from recallmeter.datasets.formats.ir_datasets import load_ir_datasets

ROOT = Path(__file__).parents[3]


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    return pytest.importorskip("ir_datasets", reason="the extra ir-datasets is not installed")


@pytest.mark.integration
def test_a_collection_of_ir_datasets_loads(tmp_path: Path, catalogue) -> None:
    for name, text in (
        ("docs.tsv", "d1\tabout crime\nd2\tabout polio\n"),
        ("queries.tsv", "1\tcrime?\n2\tpolio?\n"),
        ("qrels", "1 0 d1 2\n2 0 d2 0\n"),
    ):
        (tmp_path / name).write_text(text)
    files = {
        name: str(tmp_path / file) for name, file in (("docs_tsv", "docs.tsv"), ("queries_tsv", "queries.tsv"), ("qrels_trec", "qrels"))
    }
    catalogue.registry.register(f"local/{tmp_path.name}", catalogue.create_dataset(**files))
    loaded = load_ir_datasets(f"local/{tmp_path.name}")
    assert [(o.id, o.narrative) for o in loaded.observations] == [("d1", "about crime"), ("d2", "about polio")]
    assert [(q.id, q.text, dict(q.relevant)) for q in loaded.queries] == [("1", "crime?", {"d1": 2}), ("2", "polio?", {})]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("vaswani", "not on this machine; set download=true"),
        ("no/such", "has no such collection"),
        ("beir/scifact", "the collection has no qrels"),
    ],
)
def test_what_ir_datasets_cannot_give_is_named(catalogue, name: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        load_ir_datasets(name)


@pytest.fixture
def hub() -> None:
    spec = find_spec("datasets")
    if spec is None or spec.origin is None:
        pytest.skip("the extra hugging-face is not installed")


@pytest.mark.integration
@pytest.mark.usefixtures("hub")
def test_a_folder_of_the_hub_layout_loads(tmp_path: Path) -> None:
    for name, rows in (
        ("corpus", [{"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "title": "", "text": "two"}]),
        ("queries", [{"_id": "q1", "text": "first?"}, {"_id": "q2", "text": "second?"}]),
        ("qrels", [{"query-id": "q1", "corpus-id": "d1", "score": 1.0}]),
    ):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    tables = [("corpus", "corpus", "corpus"), ("queries", "queries", "queries"), ("default", "test", "qrels")]
    lines = [f"- config_name: {config}\n  data_files:\n  - {{split: {split}, path: {file}.jsonl}}" for config, split, file in tables]
    (tmp_path / "README.md").write_text("---\nconfigs:\n" + "\n".join(lines) + "\n---\n")
    loaded = load_hugging_face(str(tmp_path))
    assert [(o.id, o.title, o.narrative) for o in loaded.observations] == [("d1", "T", "one"), ("d2", "", "two")]
    assert [(q.id, dict(q.relevant)) for q in loaded.queries] == [("q1", {"d1": 1})]
    with pytest.raises(InputError, match="no split 'dev'; there are: test"):
        load_hugging_face(str(tmp_path), split="dev")


@pytest.mark.integration
@pytest.mark.usefixtures("hub")
def test_what_is_not_in_the_cache_is_not_fetched() -> None:
    with pytest.raises(InputError, match=r"can't load default .* set download=true"):
        load_hugging_face("recallmeter/no-such-data-set")


def test_our_own_folder_is_not_taken_for_the_package() -> None:
    code = (
        "import sys; sys.path[:] = ['', *(p for p in sys.path if 'site-packages' not in p or 'recallmeter' in p)]\n"
        "from recallmeter.datasets.errors import InputError\n"
        "from recallmeter.datasets.formats.hugging_face import load_hugging_face\n"
        "try: load_hugging_face('mteb/scifact')\n"
        "except InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "mteb/scifact: the package datasets is not installed; pip install 'recallmeter[hugging-face]'\n", done.stderr
