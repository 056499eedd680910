"""Files that are written whole or not at all, and what killed writers left behind."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import InputError
from .secrets import redacted


def is_stream(path: Path) -> bool:
    """Return whether `path` is there and is neither a file nor a folder: a pipe, a terminal, a device."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except OSError:  # whoever writes there is told
        return False


def write_file(path: Path, content: str | bytes, what: str = "the file") -> None:
    """Write a file by way of a temporary one beside it; folders above it are made.

    A link is followed. A pipe or a device is written through, since a file in its place would cut off whoever reads it.

    Args:
        content: text is written as UTF-8, without the secrets that are known.
        what: how the error calls it.

    Raises:
        InputError: it can't be written.
    """
    data = redacted(content).encode() if isinstance(content, str) else content
    try:
        if is_stream(path):
            path.write_bytes(data)
            return
        with replacing(path.resolve()) as partial:
            partial.write_bytes(data)
    except (OSError, RuntimeError) as error:  # `resolve` tells a loop of links as the latter
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{what} can't be written ({reason})", where=str(path), remedy="write elsewhere") from error


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a path beside `target` to write a file to; it takes the place of `target` when all went well, and is deleted otherwise.

    The folders above are made.

    Raises:
        OSError: they can't be, or the file can't take that place.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(target.parent)
    partial = partial_of(target)
    lock = claimed(partial, partial.touch)
    try:
        yield partial
        os.replace(partial, target)
    finally:
        with suppress(OSError):  # the folder itself may be the fault
            partial.unlink()
        os.close(lock)


def partial_of(target: Path) -> Path:
    """Return where this process writes what is to become `target`."""
    return target.with_name(f".{target.name}.partial-{os.getpid()}")


def locked(path: Path) -> int | None:
    """Lock a file or a folder and return what holds the lock; None if another process does, which a killed one no longer can."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove_abandoned(folder: Path) -> None:
    """Remove what writers that were killed left in `folder`: whatever `partial_of` names and nobody holds."""
    for path in folder.glob(".*.partial-*"):
        with suppress(OSError):  # its writer ended, or another process removes it
            if (lock := locked(path)) is not None:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                os.close(lock)


def claimed(path: Path, make: Callable[[], object]) -> int:
    """Make a file or a folder that no other process takes for abandoned, and return what holds its lock.

    Args:
        make: makes it, or leaves it where it is there.

    Raises:
        OSError: it can't be made.
    """
    while True:
        make()
        with suppress(FileNotFoundError):  # removed between the two, since nobody held it
            descriptor = os.open(path, os.O_RDONLY)
            with suppress(OSError):  # a file system without locks: nothing there is ever taken for abandoned
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if path.exists():
                return descriptor
            os.close(descriptor)
