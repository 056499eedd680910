"""Folders that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a folder to write into; it becomes `target` when all went well, and is deleted otherwise.

    Raises:
        InputError: `target` is a file, a folder that is not empty, or cannot be made.
    """
    if target.is_dir():
        if any(target.iterdir()):
            raise InputError("the folder is not empty", where=str(target), remedy="name another one, or delete it first")
    elif target.exists() or target.is_symlink():
        raise InputError("there is a file of this name", where=str(target), remedy="name a folder")
    partial = target.parent / f".{target.name}.partial-{os.getpid()}"
    try:
        partial.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"can't make the folder ({error.strerror})", where=str(target), remedy="choose another") from error
    try:
        yield partial
        if target.is_dir():
            target.rmdir()  # empty; a rename on to a folder is refused on some systems
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
