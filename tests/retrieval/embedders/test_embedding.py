from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.retrieval.embedders.embedding import CachedEmbedder, Kind, Vectors


class Hashing:
    """An encoder for tests: each text a fixed vector of its hash; not normalised, and it counts its calls."""

    model, batch_size, width = "hashing@0", 2, 8

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        self.texts += texts
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> np.ndarray:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[: self.width]
        return np.frombuffer(digest, np.uint8).astype(np.float32) - 100


def embedder(cache: Path, encoder: Hashing | None = None, **settings: int) -> CachedEmbedder:
    return CachedEmbedder(encoder or Hashing(), cache=str(cache), **settings)


def test_vectors_have_length_one(tmp_path: Path) -> None:
    vectors = embedder(tmp_path).embed(["a", "b", "c"])
    assert vectors.shape == (3, 8)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_second_run_embeds_nothing_and_gets_the_same_bytes(tmp_path: Path) -> None:
    first = embedder(tmp_path)
    vectors, query = first.embed(["a", "b", "a"]), first.embed_query("a")
    again = Hashing()
    second = embedder(tmp_path, again)
    assert second.embed(["a", "b", "a"]).tobytes() == vectors.tobytes()
    assert second.embed_query("a").tobytes() == query.tobytes()
    assert again.texts == []
    assert (second.computed, second.reused) == (0, 4)


def test_queries_and_documents_are_kept_apart(tmp_path: Path) -> None:
    encoder = Hashing()
    built = embedder(tmp_path, encoder)
    built.embed(["a"])
    built.embed_query("a")
    assert encoder.texts.count("a") == 2


def test_another_model_shares_nothing(tmp_path: Path) -> None:
    embedder(tmp_path).embed(["a"])
    other = Hashing()
    other.model = "hashing@1"
    embedder(tmp_path, other).embed(["a"])
    assert "a" in other.texts


def test_fewer_dimensions_are_cut_and_normalised_again(tmp_path: Path) -> None:
    whole, half = embedder(tmp_path).embed(["a"])[0], embedder(tmp_path, dimensions=4).embed(["a"])[0]
    np.testing.assert_allclose(half, whole[:4] / np.linalg.norm(whole[:4]), rtol=1e-6)


def test_more_dimensions_than_there_are_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="9 dimensions wanted, the model has 8"):
        embedder(tmp_path, dimensions=9).embed(["a"])


def test_nan_is_refused_and_not_kept(tmp_path: Path) -> None:
    broken = Hashing()
    broken.vector = lambda text: np.full(8, np.nan, np.float32)  # type: ignore[method-assign]
    with pytest.raises(InputError, match="NaN"):
        embedder(tmp_path, broken).embed(["a"])
    assert np.isfinite(embedder(tmp_path).embed(["a"])).all()


def test_a_dimension_that_changes_is_refused(tmp_path: Path) -> None:
    encoder = Hashing()
    built = embedder(tmp_path, encoder)
    built.embed(["a"])
    encoder.width = 6
    with pytest.raises(InputError, match="6 dimensions where 8"):
        built.embed(["b"])


def test_a_lone_surrogate_is_embedded(tmp_path: Path) -> None:
    assert np.isfinite(embedder(tmp_path).embed(["half \ud83d"])).all()


def test_a_damaged_cache_is_named_and_computed_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    expected = embedder(tmp_path / "other").embed(["a"])
    (tmp_path / "embeddings.sqlite").write_bytes(b"not a database, and long enough to be taken for a broken one" * 20)
    assert embedder(tmp_path).embed(["a"]).tobytes() == expected.tobytes()
    assert "embeddings.sqlite is damaged" in caplog.text
    assert embedder(tmp_path).embed(["a"]).tobytes() == expected.tobytes()


def test_nothing_to_embed(tmp_path: Path) -> None:
    assert len(embedder(tmp_path).embed([])) == 0
