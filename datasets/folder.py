"""Folders that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError
from .file import claimed, partial_of, remove_abandoned


def check_free(target: Path) -> None:
    """Refuse a place where a folder can't be made without losing what is there.

    Raises:
        InputError: `target` is a file, or a folder that is not empty.
    """
    if target.is_dir():
        if any(target.iterdir()):
            raise InputError("the folder is not empty", where=str(target), remedy="name another one, or delete it first")
    elif target.exists() or target.is_symlink():
        raise InputError("there is a file of this name", where=str(target), remedy="name a folder")


@contextmanager
def new_folder(
    target: Path, what: str = "the folder", *, replace: bool = False, remedy: str = "make room there, or write elsewhere"
) -> Iterator[Path]:
    """Give a folder to write into; it becomes `target` when all went well, and is deleted otherwise.

    Args:
        what: how the error calls it.
        replace: whether a folder that is there gives way.
        remedy: what the user can do when it can't be written.

    Raises:
        InputError: `target` is a file, a folder that is not empty and may not be replaced, or cannot be written.
    """
    if not replace:
        check_free(target)
    partial, lock = partial_of(target), None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not replace:  # a place where many are replaced is cleared once, by whoever replaces them
            remove_abandoned(target.parent)
        shutil.rmtree(partial, ignore_errors=True)
        lock = claimed(partial, lambda: partial.mkdir(exist_ok=True))
        yield partial
        if target.is_dir():
            shutil.rmtree(target) if replace else target.rmdir()  # a rename on to a folder is refused on some systems
        partial.rename(target)
    except OSError as error:
        raise InputError(f"{what} can't be written ({error.strerror or error})", where=str(target), remedy=remedy) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if lock is not None:
            os.close(lock)
