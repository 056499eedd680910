"""Local models: folders and names of the hub, prompts, and dimensions left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.retrieval.embedders import local
from recallmeter.retrieval.embedders.embedding import CachedEmbedder
from recallmeter.retrieval.embedders.local import SentenceTransformerEncoder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "e5"
    made.mkdir()
    (made / "model.safetensors").write_bytes(b"weights")
    return made


class Recorded:
    """Stands where sentence-transformers is, and keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str], str | None]] = []

    def encode_query(self, texts: list[str], prompt: str | None, **_: Any) -> np.ndarray:
        self.asked.append(("query", texts, prompt))
        return np.arange(1, 5, dtype=np.float32)[None].repeat(len(texts), axis=0)

    def encode_document(self, texts: list[str], prompt: str | None, **_: Any) -> np.ndarray:
        self.asked.append(("document", texts, prompt))
        return np.arange(1, 5, dtype=np.float32)[None].repeat(len(texts), axis=0)


def test_queries_and_documents_get_their_own_prompts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Recorded()
    monkeypatch.setattr(local, "_load", lambda path, model: network)
    encoder = SentenceTransformerEncoder(str(folder), query_prompt="query: ", document_prompt="")
    encoder.encode(["a"], "query")
    encoder.encode(["b", "c\ud800"], "document")
    assert network.asked == [("query", ["a"], "query: "), ("document", ["b", "c?"], "")]


def test_prompts_belong_to_the_identity_of_a_model(folder: Path) -> None:
    variants: list[dict[str, str]] = [{}, {"query_prompt": "q: "}, {"document_prompt": "q: "}, {"query_prompt": ""}]
    models = [SentenceTransformerEncoder(str(folder), **prompts).model for prompts in variants]
    assert len(set(models)) == len(models)
    assert models[0].partition("@")[0] == "e5"
    assert len({model.partition("@")[2] for model in models}) == 1


def test_leading_dimensions_are_kept_and_normalised_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_load", lambda path, model: Recorded())
    vectors = CachedEmbedder(SentenceTransformerEncoder(str(folder)), dimensions=2, cache=str(tmp_path)).embed(["a"])
    np.testing.assert_allclose(vectors, np.array([[1, 2]]) / np.sqrt(5), rtol=1e-6)


def test_several_weight_files_hash_as_one(folder: Path) -> None:
    one = SentenceTransformerEncoder(str(folder)).sha256
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "model.safetensors").write_bytes(b"more")
    both = SentenceTransformerEncoder(str(folder)).sha256
    hashes = [one, both]
    for changed in (folder / "2_Dense" / "model.safetensors", folder / "model.safetensors"):
        changed.write_bytes(b"changed")
        hashes.append(SentenceTransformerEncoder(str(folder)).sha256)
    assert len(set(hashes)) == 4


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/no/such/folder", "/no/such/folder: no such folder; name the folder"),
        ("./none", "./none: no such folder"),
        (
            "nobody/no-such-model",
            "nobody/no-such-model: neither a folder nor a model of the hub that is on this machine; set embedder.encoder.download=true",
        ),
    ],
)
def test_a_model_that_is_not_there_is_told_and_never_fetched(path: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        SentenceTransformerEncoder(path)
    assert str(caught.value).startswith(told)


def test_a_folder_without_weights_and_other_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the weights hash to \w{64}, not to 00"):
        SentenceTransformerEncoder(str(folder), sha256="00")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"no model\.safetensors there"):
        SentenceTransformerEncoder(str(folder))
