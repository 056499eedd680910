"""Packages that only one system needs: imported when it is used, asked for in one line when missing."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from ...datasets.errors import InputError


def require(module: str, extra: str) -> Any:
    """Import a module of an optional extra.

    Raises:
        InputError: it, or something it needs, is not installed.
    """
    if (seen := sys.modules.get("datasets")) is not None and getattr(seen, "__file__", None) is None:
        del sys.modules["datasets"]  # a checkout's own folder, which libraries would take for Hugging Face's package
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed", where=extra, remedy=f'pip install "recallmeter[{extra}]"') from error
