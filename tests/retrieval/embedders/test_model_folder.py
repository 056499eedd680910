"""A copied model folder in which something but the weights was changed is another model, and its vectors are its own."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from recallmeter.retrieval.embedders.embedding import CachedEmbedder
from recallmeter.retrieval.embedders.local import SentenceTransformerEncoder
from recallmeter.retrieval.embedders.models import model_folder

TEXTS = ["how the login works", "the cache of the shop is emptied at night"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_folder(None), tmp_path / "model", copy_function=os.symlink))


def rewrite(file: Path, **changes: object) -> None:
    content = json.loads(file.read_text())
    file.unlink()  # a link to the packaged one
    file.write_text(json.dumps({**content, **changes}))


def test_the_vectors_follow_the_pooling(folder: Path, tmp_path: Path) -> None:
    mean = CachedEmbedder(SentenceTransformerEncoder(str(folder)), cache=str(tmp_path / "cache")).embed(TEXTS)
    rewrite(folder / "1_Pooling" / "config.json", pooling_mode_mean_tokens=False, pooling_mode_cls_token=True)
    changed = CachedEmbedder(SentenceTransformerEncoder(str(folder)), cache=str(tmp_path / "cache"))
    vectors = changed.embed(TEXTS)
    assert changed.reused == 0
    assert (mean * vectors).sum(axis=1).max() < 0.99
    fresh = CachedEmbedder(SentenceTransformerEncoder(str(folder)), cache=str(tmp_path / "other")).embed(TEXTS)
    np.testing.assert_allclose(vectors, fresh, atol=1e-6)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}),
        ("sentence_bert_config.json", {"max_seq_length": 8}),
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("tokenizer.json", {"version": "2.0"}),
        ("config_sentence_transformers.json", {"prompts": {"query": "query: "}}),
        ("config.json", {"torch_dtype": "float16"}),
    ],
)
def test_every_file_that_shapes_a_vector_makes_another_model(folder: Path, file: str, change: dict[str, object]) -> None:
    before = SentenceTransformerEncoder(str(folder)).model
    rewrite(folder / file, **change)
    assert SentenceTransformerEncoder(str(folder)).model != before


def test_what_is_there_for_people_makes_no_other_model(folder: Path) -> None:
    before = SentenceTransformerEncoder(str(folder)).model
    for name in ("README.md", ".gitattributes", "onnx/model.onnx", "picture.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text("changed")
    assert SentenceTransformerEncoder(str(folder)).model == before
