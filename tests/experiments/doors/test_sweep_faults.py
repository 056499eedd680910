"""Sweeps on machines that fail: what is told is clear, and what was done stays done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

HOG = """
import os
import signal
from pathlib import Path


class Hog:
    def __init__(self, n):
        self.n = n

    def index(self, observations):
        if self.n == 3 and not os.environ.get("MENDED"):
            os.kill(os.getpid(), signal.SIGKILL)  # as a kernel does that is out of memory

    def search(self, query, k, *, scope="", asked_at=None):
        return []
"""
LINE = ["protocol.isolate=never", "system=[]", "+systems.hog._target_=hog.Hog", "+systems.hog.n=range(0,8)", "name=hogs"]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "hog.py").write_text(HOG)
    return tmp_path


def sweep(here: Path, *overrides: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recallmeter", "sweep", *LINE, *overrides]
    return subprocess.run(command, cwd=here, capture_output=True, text=True, env={**os.environ, "RECALLMETER_CACHE": str(here / "cache")})


def points(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/point.json")}


def assert_told_plainly(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback" not in done.stderr
    assert "Error executing job" not in done.stderr


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here; that needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_point_whose_process_is_killed_is_named_and_the_same_line_goes_on(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="pip install recallmeter[joblib]")
    launcher = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]
    done = sweep(here, *launcher)
    assert done.returncode == 4
    assert_told_plainly(done)
    assert "LOST" in done.stderr
    assert "systems.hog.n=3" in done.stderr
    assert "the same line runs them" in done.stderr
    before = points(here / "multirun" / "hogs")
    assert before
    monkeypatch.setenv("MENDED", "1")
    again = sweep(here, *launcher)
    assert again.returncode == 0, again.stderr
    assert f"{8 - len(before)} ran, {len(before)} reused, 0 failed" in again.stdout


def test_a_full_disk_stops_the_sweep_and_loses_nothing(here: Path, mount: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MENDED", "1")
    folder, ballast = mount / "hogs", mount / "ballast"
    ballast.write_bytes(bytes(200_000))
    done = sweep(here, f"hydra.sweep.dir={folder}")
    assert done.returncode in (2, 4)
    assert_told_plainly(done)
    assert "No space left on device" in done.stderr
    before = points(folder)
    assert 0 < len(before) < 8
    subprocess.run(["mount", "-o", "remount,size=10m", str(mount)], check=True)
    again = sweep(here, f"hydra.sweep.dir={folder}")
    assert again.returncode == 0, again.stderr
    assert f"{8 - len(before)} ran, {len(before)} reused, 0 failed" in again.stdout
    assert not list(folder.glob(".*.partial-*"))


def test_a_folder_that_can_only_be_read_is_told_in_one_line_and_left_as_it_is(
    here: Path, mount: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MENDED", "1")
    subprocess.run(["mount", "-o", "remount,size=10m", str(mount)], check=True)
    assert sweep(here, f"hydra.sweep.dir={mount / 'hogs'}").returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
    done = sweep(here, f"hydra.sweep.dir={mount / 'hogs'}", "k=10")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "can't write there (Read-only file system)" in done.stderr
    assert len(points(mount / "hogs")) == 8
