"""A point of a sweep: one configuration's values, small enough that thousands are read at once."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets.errors import InputError
from .loop import SystemResult
from .metrics import Scores
from .statistics import Floats

RECORD, VALUES = "point.json", "values.npy"


@dataclass(frozen=True)
class Point:
    """What one configuration of a sweep gave.

    Attributes:
        key: hash of the resolved configuration, the data set, the models and the code.
        parameters: the overrides that tell it from the other points.
        status: ``complete`` or ``failed``; a failed one has an `error` and nothing below it.
        systems, measures, queries: the axes of `values`; the queries are the answerable ones, sorted.
        values: shape (systems, measures, queries).
        tokens, latency: system → mean tokens a query, and p50 and p95 of its milliseconds a query.
        manifest: data set, models, code and machine, as in a run.
    """

    key: str
    parameters: Mapping[str, Any]
    status: str
    error: str = ""
    systems: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    values: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))
    tokens: Mapping[str, float] = field(default_factory=dict)
    latency: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def mean(self, system: str, measure: str) -> float:
        """Return the mean of a measure over the answerable queries; of ``tokens`` the mean tokens a query."""
        if measure == "tokens":
            return self.tokens[system]
        return float(self.values[self.systems.index(system), self.measures.index(measure)].mean())


def point_of(
    key: str, parameters: Mapping[str, Any], results: Sequence[SystemResult], scores: Mapping[str, Scores], manifest: Mapping[str, Any]
) -> Point:
    """Condense an evaluation into a point."""
    first = next(iter(scores.values()))
    answerable = [row for row, query in enumerate(first.query_ids) if query not in set(first.unanswerable)]
    totals = {r.name: np.array([a.spans.get("total", np.nan) for a in r.answers.values()]) for r in results}
    return Point(
        key,
        dict(parameters),
        "complete",
        systems=tuple(scores),
        measures=tuple(first.values),
        queries=tuple(first.query_ids[row] for row in answerable),
        values=np.array([[values[answerable] for values in found.values.values()] for found in scores.values()], np.float64),
        tokens={r.name: float(np.mean([a.tokens for a in r.answers.values()])) for r in results},
        latency={name: {f"p{p}": float(np.nanpercentile(ms, p)) for p in (50, 95)} for name, ms in totals.items()},
        manifest=manifest,
    )


def write_point(folder: Path, point: Point) -> None:
    """Write a point to `folder`, whole or not at all; one that stands there already is replaced only if it failed.

    Raises:
        InputError: it can't be written.
    """
    partial = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
    record = {name: value for name, value in asdict(point).items() if name != "values"}
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        (partial / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        if point.status == "complete":
            np.save(partial / VALUES, point.values)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(partial, folder)
    except OSError as error:
        raise InputError(
            f"the point can't be written ({error.strerror or error})",
            where=str(folder),
            remedy="make room or give write access, then start the same sweep again: what is done is kept",
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def read_point(folder: Path) -> Point | None:
    """Return the point in `folder`; None when there is none.

    Raises:
        InputError: the record is damaged, or is not of the key that the folder is named by.
    """
    path = folder / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        values = np.load(folder / VALUES) if record["status"] == "complete" else np.empty((0, 0, 0))
        axes = {name: tuple(record[name]) for name in ("systems", "measures", "queries")}
        point = Point(**{**record, **axes}, values=values)
    except FileNotFoundError:
        if not path.exists():
            return None
        raise InputError(f"{VALUES} is missing", where=str(folder), remedy="remove the folder; the point is then run again") from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"a damaged point ({error})", where=str(path), remedy="remove the folder; the point is then run again") from error
    if not point.key.startswith(folder.name) or point.values.shape != (
        (len(axes["systems"]), len(axes["measures"]), len(axes["queries"])) if point.status == "complete" else (0, 0, 0)
    ):
        raise InputError("its content does not fit its name", where=str(folder), remedy="remove the folder; the point is then run again")
    return point


def read_points(folders: Sequence[Path]) -> list[Point]:
    """Read every point below each sweep folder, sorted by key.

    Raises:
        InputError: a folder that is not there, or has no point.
    """
    points: dict[str, Point] = {}
    for folder in folders:
        if not folder.is_dir():
            raise InputError("no such folder", where=str(folder), remedy="name a folder that `recallmeter sweep` wrote")
        found = [read_point(path.parent) for path in sorted(folder.glob(f"*/{RECORD}"))]
        if not found:
            raise InputError("there is no point of a sweep in it", where=str(folder), remedy="name a folder that `recallmeter sweep` wrote")
        points.update((point.key, point) for point in found if point is not None)
    return [points[key] for key in sorted(points)]
