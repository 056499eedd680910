"""Files are written whole or not at all, and what is no file is never replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.file import is_stream, replacing, write_file
from recallmeter.datasets.folder import new_folder


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_file(path, "one")
    write_file(path, "zwö")
    assert path.read_bytes() == "zwö".encode()
    assert os.listdir(path.parent) == ["file"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_file(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"content"


@pytest.mark.parametrize("name", ["file/x", "folder", "n" * 300, "loop", "folder/" + "n" * 250])
def test_what_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"kept")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="the table can't be written") as told:
        write_file(tmp_path / name, "text", "the table")
    assert told.value.where == str(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_bytes() == b"kept"


def test_a_pipe_is_written_through(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    assert is_stream(pipe)
    assert not is_stream(tmp_path)
    heard: list[bytes] = []
    for path in (pipe, tmp_path / "link"):
        reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
        reader.start()
        write_file(path, "content")
        reader.join(5)
        assert pipe.is_fifo()
    assert heard == [b"content", b"content"]


def test_what_a_killed_writer_left_is_removed_by_the_next_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from recallmeter.datasets.{module} import {name} as write\n"
    script += "with write(Path({path!r})) as partial:\n    print('there', flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    for module, name in (("file", "replacing"), ("folder", "new_folder")):
        text = script.format(module=module, name=name, path=str(tmp_path / "theirs"))
        with subprocess.Popen([sys.executable, "-c", text], **pipes) as process:  # type: ignore[call-overload]
            process.stdout.readline()
            with replacing(tmp_path / "mine") as partial:
                partial.write_text("x")
            with new_folder(tmp_path / "ours"):
                pass
            assert [path.name for path in tmp_path.glob(".*")] == [f".theirs.partial-{process.pid}"]
            process.send_signal(signal.SIGKILL)
        with replacing(tmp_path / "mine") as partial:
            partial.write_text("x")
        assert sorted(os.listdir(tmp_path)) == ["mine", "ours"]
