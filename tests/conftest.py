"""Fixtures that every floor's tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the project; the test is skipped where there is none."""
    folder = Path(os.environ.get("RECALLMETER_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no shared data: set RECALLMETER_SHARED to the folder that holds data/ and reference/ (looked at {folder.name!r} beside the project)")
    return folder
