"""Where what is installed with the code lies, and how paths are printed."""

from __future__ import annotations

import os
from pathlib import Path

CONF = Path(__file__).resolve().parents[1] / "conf"
"""The packaged configuration; beside this floor in a checkout and in an installed wheel alike."""


def printed(folder: Path) -> str:
    """Return a folder as it is printed: from where the user is, if it lies below."""
    return os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)
