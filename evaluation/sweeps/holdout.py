"""Queries that a sweep holds back from its start, so that what is said of its winner at the end was chosen by none of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ...datasets.errors import InputError
from ...datasets.file import write_file
from ..seal import DIGEST, check_shape, is_sealed, read_record, sealed
from .points import RECORD, Point, read_points
from .split import split

FILE = "holdout.json"
_REMEDY = "take it back from a copy: without it nobody can say what was held back"


@dataclass(frozen=True)
class Holdout:
    """What a sweep holds back.

    Attributes:
        share: of the queries, between 0 and 1.
        revealed: when it was shown, oldest first.
    """

    share: float
    revealed: tuple[str, ...] = ()


def holdout_of(folder: Path) -> Holdout | None:
    """Return what a sweep's folder holds back; None for nothing.

    Raises:
        InputError: its record is damaged.
    """
    path = folder / FILE
    if not path.exists():
        return None
    record = read_record(path, "the record of what is held back", absent=_REMEDY, remedy=_REMEDY)
    if not is_sealed(record):
        raise InputError("the record of what is held back is not as it was written", where=str(path), remedy=_REMEDY)
    del record[DIGEST]
    check_shape(record, {"share": float, "revealed": [str]}, str(path), _REMEDY)
    return Holdout(_checked(record["share"], str(path)), tuple(record["revealed"]))


def hold_back(folder: Path, share: float | None) -> None:
    """Hold back a share of the queries of a sweep that is to begin; None leaves it as the folder says.

    Raises:
        InputError: no share, another one than from the start, or points whose values have been shown already.
    """
    if share is None:
        return
    where, held = "sweep.holdout", holdout_of(folder)
    _checked(share, where)
    if held is None and any(folder.glob(f"*/{RECORD}")):
        raise InputError(
            f"{folder} has points already, all of whose queries could be seen", where=where, remedy="sweep into another hydra.sweep.dir"
        )
    if held is not None and held.share != share:
        raise InputError(f"{folder} holds back {held.share:g} from its start", where=where, remedy="sweep into another hydra.sweep.dir")
    if held is None:
        _write(folder, Holdout(share))


def unveil(folders: Sequence[Path]) -> None:
    """Remember that what each folder holds back is shown.

    Raises:
        InputError: its record can't be written.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for folder, held in _held(folders).items():
        _write(folder, replace(held, revealed=(*held.revealed, now)))


def told(folders: Sequence[Path]) -> list[str]:
    """Return, for each folder that holds something back, how much that is and how often it was revealed."""
    said = []
    for folder in folders:
        if held := holdout_of(folder):
            times = len(held.revealed)
            often = "never revealed" if not times else f"revealed {times} time{'s' if times > 1 else ''}, last at {held.revealed[-1]}"
            spent = "; what was changed after the first time was chosen with them in sight" if times > 1 else ""
            said.append(f"{folder} holds back {100 * held.share:g} % of its queries since its start, {often}{spent}")
    return said


def shown(points: Sequence[Point], folder: Path) -> list[Point]:
    """Return the points of a folder without the queries that it holds back."""
    held = holdout_of(folder)
    return list(points) if held is None else split(points, 1 - held.share, where="sweep.holdout")[0]


def shown_points(folders: Sequence[Path]) -> list[Point]:
    """Read every point below each sweep folder, sorted by key, without the queries that are held back.

    Raises:
        InputError: a folder that is not there, or has no point.
    """
    return _by_key(shown(read_points([folder]), folder) for folder in folders)


def held_points(folders: Sequence[Path]) -> list[Point]:
    """Read every point below each sweep folder, sorted by key, on the queries that are held back alone.

    Raises:
        InputError: a folder that is not there, has no point, or holds nothing back.
    """
    return _by_key(split(read_points([folder]), 1 - held.share, where="sweep.holdout")[1] for folder, held in _held(folders).items())


def _held(folders: Sequence[Path]) -> dict[Path, Holdout]:
    found = {}
    for folder in folders:
        if (held := holdout_of(folder)) is None:
            remedy = "start a sweep with sweep.holdout=.5, or set queries apart now with --select-on .5"
            raise InputError("it holds nothing back", where=str(folder), remedy=remedy)
        found[folder] = held
    return found


def _by_key(found: Iterable[Sequence[Point]]) -> list[Point]:
    points = {point.key: point for points in found for point in points}
    return [points[key] for key in sorted(points)]


def _checked(share: object, where: str) -> float:
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise InputError(f"{share!r} is no share of the queries", where=where, remedy="give a number between 0 and 1, such as .5")
    return float(share)


def _write(folder: Path, held: Holdout) -> None:
    write_file(folder / FILE, json.dumps(sealed(json.loads(json.dumps(asdict(held)))), indent=1) + "\n", "the record of what is held back")
