"""A sweep that was finished is checked without composing each of its points again, which takes Hydra longer than all the rest.

What a point's key depends on is checked all the same: the call, the YAML files, the resolved configuration of the first point, the
content of the data sets, what the points themselves were shaped by, and the points themselves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...datasets.errors import InputError
from ...datasets.file import write_file
from ...evaluation.sweeps.points import KEY_LENGTH, read_point
from ...retrieval.identity import canonical
from ..composition import config_folders, plain
from .reuse import point_key

if TYPE_CHECKING:
    from omegaconf import DictConfig


def remember(folder: Path, line: Sequence[str], first: DictConfig, points: Sequence[Mapping[str, Any]]) -> None:
    """Keep what the points of a finished sweep were made of.

    Args:
        points: of each its ``key``, and in ``settings`` those that it was measured with.

    Raises:
        InputError: it can't be written.
    """
    settings = {canonical(point["settings"]): point["key"] for point in points}
    write_file(_path(folder, line), json.dumps({"call": _call(line, first), "points": settings}, indent=1) + "\n")


def standing(folder: Path, line: Sequence[str], first: DictConfig) -> bool:
    """Return whether the sweep of this line was finished and every point would come out under the key that it has."""
    try:
        record = json.loads(_path(folder, line).read_text(encoding="utf-8"))
        if record["call"] != _call(line, first):
            return False
        if any(point_key(_resolved(settings)) != key for settings, key in record["points"].items()):
            return False
        points = [(key, read_point(folder / key[:KEY_LENGTH])) for key in record["points"].values()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError):  # whatever is wrong, each point will tell
        return False
    return bool(points) and all(point is not None and point.key == key and point.status == "complete" for key, point in points)


def _call(line: Sequence[str], first: DictConfig) -> str:
    from omegaconf import OmegaConf

    settings = plain(OmegaConf.masked_copy(first, [str(key) for key in first if key not in ("hydra", "sweep")]))
    digest = hashlib.sha256(canonical([*line, settings]).encode())
    for root in config_folders(line):
        for path in sorted(root.rglob("*.yaml")):
            digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _resolved(settings: str) -> dict[str, Any]:
    from omegaconf import OmegaConf

    return plain(OmegaConf.create(json.loads(settings)))


def _path(folder: Path, line: Sequence[str]) -> Path:
    return folder / f".finished-{hashlib.sha256(canonical(list(line)).encode()).hexdigest()[:12]}.json"
