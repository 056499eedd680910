"""`recallmeter cache`, and caches whose bytes are not what was written."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest
from recallmeter.experiments.cli import main
from recallmeter.retrieval.cache import Cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECALLMETER_CACHE", str(tmp_path))
    Cache("embeddings").write({b"1": b"a" * 1000, b"2": b"b"}, "mini@53aa+1")
    Cache("embeddings").write({b"3": b"c"}, "large@0")
    Cache("candidates").write({b"4": b"d"}, "bm25")
    return tmp_path


def change(folder: Path, sql: str) -> None:
    with sqlite3.connect(folder / "embeddings.sqlite") as database:
        database.execute(sql)


def test_it_shows_models_sizes_and_ages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder, f"UPDATE kept SET written = {time.time() - 3 * 86400} WHERE maker = 'large@0'")
    assert main(["cache"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["embeddings", "mini@53aa+1", "2", "1", "kB"] in [row[:5] for row in rows]
    assert ["embeddings", "large@0", "1", "1", "B", "3", "d", "3", "d"] in rows
    assert ["candidates", "bm25", "1", "1", "B"] in [row[:5] for row in rows]


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["--model", "mini"], ["bm25", "large@0"]),
        (["--model", "mini@53aa+1", "--model", "bm25"], ["large@0"]),
        (["--older-than", "2d"], ["bm25", "mini@53aa+1"]),
        (["--model", "mini", "--older-than", "2d"], ["bm25", "large@0", "mini@53aa+1"]),
        (["--all"], []),
    ],
)
def test_it_clears_by_model_and_by_age(folder: Path, arguments: list[str], left: list[str]) -> None:
    change(folder, f"UPDATE kept SET written = {time.time() - 3 * 86400} WHERE maker = 'large@0'")
    assert main(["cache", "clear", *arguments]) == 0
    assert sorted(kept.maker for name in ("embeddings", "candidates") for kept in Cache(name).makers()) == left


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "say --model NAME, --older-than AGE or --all"),
        (["--model", "nomic"], "nothing of 'nomic' is kept; there are: large, mini, bm25"),
        (["--older-than", "soon"], "'soon' is no age"),
    ],
)
def test_what_is_not_clear_is_refused(folder: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "clear", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert sum(kept.values for kept in Cache("embeddings").makers()) == 3


def test_it_verifies_every_value(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "verify"]) == 0
    change(folder, "UPDATE kept SET value = x'00' WHERE key = x'32'")
    assert main(["cache", "verify"]) == 2
    assert "embeddings: 3 values, 1 damaged" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["x''", "x'00'", "x'626262'"])
def test_a_damaged_value_is_none_and_can_be_written_again(folder: Path, value: str, caplog: pytest.LogCaptureFixture) -> None:
    change(folder, f"UPDATE kept SET value = {value} WHERE key = x'32'")
    cache = Cache("embeddings")
    assert cache.read([b"2", b"3"]) == {b"3": b"c"}
    assert "1 entries are damaged" in caplog.text
    cache.write({b"2": b"b"})
    assert cache.read([b"2"]) == {b"2": b"b"}


def test_a_value_moved_to_another_key_is_damaged(folder: Path) -> None:
    change(folder, "UPDATE kept SET value = x'63', checksum = (SELECT checksum FROM kept WHERE key = x'33') WHERE key = x'32'")
    assert Cache("embeddings").read([b"2"]) == {}


@pytest.mark.parametrize(
    "damage", [lambda content: b"not a database at all" * 400, lambda content: content[:5000], lambda content: bytes(8192)]
)
def test_a_damaged_file_is_laid_aside_and_named(folder: Path, damage, caplog: pytest.LogCaptureFixture) -> None:
    path = folder / "embeddings.sqlite"
    Cache("embeddings").write({str(n).encode(): b"v" * 500 for n in range(100)}, "many")
    path.write_bytes(damage(path.read_bytes()))
    cache = Cache("embeddings")
    assert cache.read([b"1"]) == {}
    cache.write({b"1": b"again"})
    assert Cache("embeddings").read([b"1"]) == {b"1": b"again"}
    assert "embeddings.sqlite is damaged" in caplog.text
    assert len(list(folder.glob("embeddings.damaged-*"))) == 1


def test_a_cache_of_an_older_format_is_emptied(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "embeddings.sqlite") as database:
        database.execute("CREATE TABLE kept (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        database.execute("INSERT INTO kept VALUES (x'31', x'00')")
    assert Cache("embeddings", tmp_path).read([b"1"]) == {}
