"""Folders are there whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.folder import new_folder


def test_it_appears_when_all_is_written(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "data"
    with new_folder(target) as folder:
        (folder / "a").write_text("x")
        assert not target.exists()
    assert [path.name for path in target.parent.iterdir()] == ["data"]
    assert (target / "a").read_text() == "x"


def test_an_empty_folder_may_be_there(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with new_folder(tmp_path / "data") as folder:
        (folder / "a").touch()
    assert (tmp_path / "data" / "a").exists()


def test_a_folder_gives_way_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "old").touch()
    with new_folder(tmp_path / "data", replace=True) as folder:
        (folder / "new").touch()
        assert (tmp_path / "data" / "old").exists()
    assert [path.name for path in tmp_path.rglob("*")] == ["data", "new"]


def test_what_cannot_be_written_inside_is_told_with_the_name_of_the_folder(tmp_path: Path) -> None:
    message = r"data: the run can't be written .*; make room"
    with pytest.raises(InputError, match=message), new_folder(tmp_path / "data", "the run") as folder:
        (folder / ("n" * 300)).touch()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_of_a_failure(tmp_path: Path, failure: type[BaseException]) -> None:
    def write() -> None:
        with new_folder(tmp_path / "data") as folder:
            (folder / "a").touch()
            raise failure

    with pytest.raises(failure):
        write()
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine").touch()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="the folder is not empty; name another one"), new_folder(tmp_path / "data"):
        pass
    with pytest.raises(InputError, match="there is a file of this name"), new_folder(tmp_path / "file"):
        pass
    with pytest.raises(InputError, match="the folder can't be written"), new_folder(tmp_path / "file" / "data"):
        pass
    assert (tmp_path / "data" / "mine").exists()
