"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
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
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        yield partial
        os.replace(partial, target)
    finally:
        with suppress(OSError):  # the folder itself may be the fault
            partial.unlink()
