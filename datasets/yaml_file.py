"""YAML files: read safely, with the line of what is wrong, and no key twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .errors import InputError


def read_yaml(path: Path, what: str = "the file", *, remedy: str = "") -> Any:
    """Return the values of a YAML file, which may be JSON.

    Args:
        what: how the error calls it.
        remedy: what to do where there is no such file.

    Raises:
        InputError: it can't be read, is not YAML in UTF-8, or names a key twice; where that can be told, with the line.
    """
    import yaml

    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{what} can't be read ({error.strerror})", where=str(path), remedy=remedy) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{what} is not UTF-8 (byte {error.start + 1})", where=str(path), remedy="save it as UTF-8") from error

    fastest: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml where it is built in: ten times as fast

    class Loader(fastest):
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                if (key.tag, key.value) in seen:
                    where = f"{path}:{key.start_mark.line + 1}"
                    raise InputError(f"the key {key.value!r} occurs twice in one mapping", where=where, remedy="keep one of the two")
                seen.add((key.tag, key.value))
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)
    except InputError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise InputError(f"{what} is not valid YAML ({error.problem})", where=where, remedy="correct it") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{what} is not valid YAML ({' '.join(str(error).split())})", where=str(path), remedy="correct it") from error
