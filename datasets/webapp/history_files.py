"""The files of ``history/``, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ..yaml_file import read_yaml


@cache
def history(name: str) -> Any:
    """Return the values of one file of ``history/``."""
    return read_yaml(Path(__file__).with_name("history") / f"{name}.yaml")
