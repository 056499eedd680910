"""Vectors in a file: every bit comes back, and a file that is not whole is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.retrieval.embedders.embedding import Vectors, normalised
from recallmeter.retrieval.indexes.storage import load_vectors, save_vectors

MODEL = "letters@0123abcd"
IDS = tuple(f"o{i}" for i in range(9))


@pytest.fixture
def vectors() -> Vectors:
    made = normalised(np.random.default_rng(3).standard_normal((len(IDS), 5)))
    made[0] = [-0.0, 1e-42, np.finfo(np.float32).max, np.nextafter(np.float32(0), np.float32(1)), -1]
    return made


@pytest.fixture
def path(tmp_path: Path, vectors: Vectors) -> Path:
    save_vectors(tmp_path / "memory.vectors", MODEL, IDS, vectors)
    return tmp_path / "memory.vectors"


def test_every_bit_comes_back(path: Path, vectors: Vectors) -> None:
    stored = load_vectors(path, MODEL)
    assert (stored.model, stored.ids) == (MODEL, IDS)
    assert stored.vectors.dtype == np.float32
    assert stored.vectors.shape == vectors.shape
    assert stored.vectors.tobytes() == vectors.tobytes()


def test_saving_what_was_loaded_gives_the_same_file(path: Path, tmp_path: Path) -> None:
    stored = load_vectors(path)
    save_vectors(tmp_path / "again", stored.model, stored.ids, stored.vectors)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_an_empty_memory_comes_back(tmp_path: Path) -> None:
    save_vectors(tmp_path / "none", MODEL, (), np.empty((0, 384), np.float32))
    assert load_vectors(tmp_path / "none", MODEL).vectors.shape == (0, 384)


def test_a_file_cut_short_anywhere_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=path.name):
            load_vectors(path)


def test_a_file_with_something_appended_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(InputError, match="181 bytes of vectors where 180 belong; delete it and embed again"):
        load_vectors(path)


def test_a_changed_bit_is_refused(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="SHA-256 differs"):
        load_vectors(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"count": 10}, "lacks the count"),
        ({"dimensions": 6}, "180 bytes of vectors where 216 belong"),
        ({"dimensions": -5}, "lacks the count"),
        ({"count": "9"}, "lacks the count"),
        ({"ids": ["o0"]}, "lacks the count"),
        ({"format": "something-else"}, "no file of the format"),
        ({"sha256": "0"}, "SHA-256 differs"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(path: Path, change: dict[str, object], told: str) -> None:
    line, _, data = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps(json.loads(line) | change).encode() + b"\n" + data)
    with pytest.raises(InputError, match=told):
        load_vectors(path)


def test_another_models_vectors_are_refused(path: Path) -> None:
    with pytest.raises(InputError, match="vectors of 'letters@0123abcd', not of 'other@1'; embed again"):
        load_vectors(path, "other@1")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: the vectors can't be read \(No such file"):
        load_vectors(tmp_path / "nowhere")


def test_ids_must_fit_and_nan_is_never_written(tmp_path: Path, vectors: Vectors) -> None:
    with pytest.raises(InputError, match="1 ids for 9 vectors"):
        save_vectors(tmp_path / "v", MODEL, ("o1",), vectors)
    vectors[3, 3] = np.nan
    with pytest.raises(InputError, match="NaN"):
        save_vectors(tmp_path / "v", MODEL, IDS, vectors)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_what_was_there(path: Path, vectors: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("recallmeter.retrieval.indexes.storage.os.replace", fail)
    with pytest.raises(OSError, match="no space"):
        save_vectors(path, "other@1", IDS, vectors)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == before
