"""A digest that a stored record carries of itself, so that no flipped bit and no edit is taken for a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..datasets.errors import InputError
from .shape import misfit

DIGEST = "digest"


def sealed(record: Mapping[str, Any], *contents: bytes) -> dict[str, Any]:
    """Return a record of JSON values with the digest of it and of the contents of files that belong to it."""
    return {**record, DIGEST: _digest(record, contents)}


def is_sealed(record: Mapping[str, Any], *contents: bytes) -> bool:
    """Return whether a record and the contents that belong to it are what was sealed."""
    return record.get(DIGEST) == _digest({name: value for name, value in record.items() if name != DIGEST}, contents)


def read_record(path: Path, what: str, *, absent: str, remedy: str) -> dict[str, Any]:
    """Read a stored JSON object, sealed or not.

    Args:
        what: how errors call it.
        absent: what to do where there is none; `remedy`: where there is none that can be read.

    Raises:
        InputError: there is none, or it is no JSON object in UTF-8.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"{what} can't be read ({error.strerror})", where=str(path), remedy=absent) from error
    except OSError as error:
        raise InputError(f"{what} can't be read ({error.strerror})", where=str(path), remedy="see that you may read it") from error
    except json.JSONDecodeError as error:
        raise InputError(f"broken JSON ({error.msg})", where=f"{path}:{error.lineno}", remedy=remedy) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{what} is not UTF-8 text", where=str(path), remedy=remedy) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
        raise InputError(f"broken JSON ({' '.join(str(error).split())[:80]})", where=str(path), remedy=remedy) from error
    if not isinstance(value, dict):
        raise InputError(f"{what} is not a JSON object", where=str(path), remedy=remedy)
    return value


def check_shape(record: Mapping[str, Any], shape: Mapping[str, Any], where: str, remedy: str) -> None:
    """Raise `InputError` unless a record looks as it has to, see `misfit`."""
    if told := misfit(record, shape):
        raise InputError(told, where=where, remedy=remedy)


def _digest(record: Mapping[str, Any], contents: tuple[bytes, ...]) -> str:
    digest = hashlib.sha256(json.dumps(record, sort_keys=True, ensure_ascii=True).encode())
    for content in contents:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()
