"""A point of a sweep: one configuration's values, small enough that thousands are read at once."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...datasets.errors import InputError
from ...datasets.folder import new_folder
from ...datasets.secrets import redacted_settings
from ..inference.clusters import Floats
from ..loop import SystemResult
from ..measures.metrics import Scores
from ..seal import DIGEST, check_shape, is_sealed, read_record, sealed
from ..shape import Each, Maybe

RECORD, VALUES = "point.json", "values.npy"
SHAPE = {
    "key": str,
    "parameters": Each(Maybe((str, float, bool))),
    "status": str,
    "error": str,
    "systems": [str],
    "measures": [str],
    "queries": [str],
    "tokens": Each(float),
    "latency": Each({"p50": Maybe(float), "p95": Maybe(float)}),
    "manifest": dict,
}
MANIFEST = {
    "dataset": {"fingerprint": str},
    "unknown?": [str],
    "strata?": Each([str]),
    "ended?": str,
    "notices?": [{"system": str, "text": str}],
}
"""What the record of a point says, and of a complete one that part of its manifest which is read."""
KEY_LENGTH = 20
"""How much of a key a folder is named by."""


@dataclass(frozen=True)
class Point:
    """What one configuration of a sweep gave.

    Attributes:
        key: hash of the resolved configuration, the data set, the models and the code.
        parameters: the overrides that tell it from the other points.
        status: ``complete`` or ``failed``; a failed one has an `error` and nothing below it.
        systems, measures, queries: the axes of `values`; the queries are those that any measure is about, sorted.
        values: shape (systems, measures, queries); nan where a measure leaves a query out.
        tokens, latency: system → mean tokens a query, and p50 and p95 of its milliseconds a query, measured
            when the point ran; None where nothing was timed.
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
    latency: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The name of its folder: the beginning of its key."""
        return self.key[:KEY_LENGTH]

    def mean(self, system: str, measure: str) -> float:
        """Return the mean of a measure over the queries that it is about; of ``tokens`` the mean tokens a query."""
        if measure == "tokens":
            return self.tokens[system]
        return float(np.nanmean(self.values[self.systems.index(system), self.measures.index(measure)]))


class Condensed(NamedTuple):
    """What a point keeps of one system: see the attributes of `Point`; `values` has shape (measures, queries)."""

    measures: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    tokens: float
    latency: Mapping[str, float | None]
    models: Mapping[str, str]


def condensed(result: SystemResult, scores: Scores, models: Mapping[str, str]) -> Condensed:
    """Keep of an evaluation what a point needs."""
    unanswerable = set(scores.unanswerable)
    about = [any(not np.isnan(values[row]) for values in scores.values.values()) for row in range(len(scores.query_ids))]
    measured = [row for row, query in enumerate(scores.query_ids) if about[row] or query not in unanswerable]
    times = [answer.spans["total"] for answer in result.answers.values() if "total" in answer.spans]
    return Condensed(
        tuple(scores.values),
        tuple(scores.query_ids[row] for row in measured),
        np.array([values[measured] for values in scores.values.values()], np.float64),
        float(np.mean([answer.tokens for answer in result.answers.values()])),
        {f"p{p}": float(np.percentile(times, p)) if times else None for p in (50, 95)},
        models,
    )


def point_of(key: str, parameters: Mapping[str, Any], systems: Mapping[str, Condensed], manifest: Mapping[str, Any]) -> Point:
    """Put the systems of one configuration together."""
    first = next(iter(systems.values()))
    return Point(
        key,
        dict(parameters),
        "complete",
        systems=tuple(systems),
        measures=first.measures,
        queries=first.queries,
        values=np.stack([system.values for system in systems.values()]),
        tokens={name: system.tokens for name, system in systems.items()},
        latency={name: system.latency for name, system in systems.items()},
        manifest={**manifest, "models": dict(sorted(found for system in systems.values() for found in system.models.items()))},
    )


def write_point(folder: Path, point: Point) -> None:
    """Write a point to `folder`, whole or not at all; one that stands there already is replaced only if it failed.

    Raises:
        InputError: it can't be written.
    """
    record = {name: value for name, value in vars(point).items() if name != "values"}
    remedy = "make room or give write access, then start the same sweep again: what is done is kept"
    with new_folder(folder, "the point", replace=True, remedy=remedy) as partial:
        packed = io.BytesIO()  # numpy hides why a file can't be written
        np.save(packed, point.values)
        if point.status == "complete":
            (partial / VALUES).write_bytes(packed.getvalue())
        told = sealed(redacted_settings(json.loads(json.dumps(record))), packed.getvalue())
        (partial / RECORD).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def read_point(folder: Path) -> Point | None:
    """Return the point in `folder`; None when there is none.

    Raises:
        InputError: the record is damaged, or is not of the key that the folder is named by.
    """
    path, remedy = folder / RECORD, "remove the folder; the point is then run again"
    if not path.exists():
        return None
    try:
        record = read_record(path, "the record of a point", absent=remedy, remedy=remedy)
    except InputError as error:
        raise InputError(f"a damaged point ({error.what})", where=error.where, remedy=remedy) from error
    try:
        complete = record.get("status") == "complete"
        packed = (folder / VALUES).read_bytes() if complete else _nothing()
        if not is_sealed(record, packed):
            raise ValueError(f"{RECORD} or {VALUES} is not as it was written")
        del record[DIGEST]
        check_shape(record, SHAPE | ({"manifest": MANIFEST} if complete else {}), str(path), remedy)
        values = np.load(io.BytesIO(packed))
        axes = {name: tuple(record[name]) for name in ("systems", "measures", "queries")}
        point = Point(**{**record, **axes}, values=values)
    except FileNotFoundError:
        raise InputError(f"{VALUES} is missing", where=str(folder), remedy=remedy) from None
    except InputError:
        raise
    except (OSError, EOFError, ValueError, TypeError) as error:
        raise InputError(f"a damaged point ({error})", where=str(path), remedy=remedy) from error
    odd = complete and not all(set(point.systems) == found.keys() for found in (point.tokens, point.latency))
    if (
        odd
        or not point.key.startswith(folder.name)
        or point.values.shape != ((len(axes["systems"]), len(axes["measures"]), len(axes["queries"])) if complete else (0, 0, 0))
    ):
        raise InputError("its content does not fit its name", where=str(folder), remedy=remedy)
    return point


def _nothing() -> bytes:
    packed = io.BytesIO()
    np.save(packed, np.empty((0, 0, 0)))
    return packed.getvalue()


def read_points(folders: Sequence[Path]) -> list[Point]:
    """Read every point below each sweep folder, sorted by key, on all its queries; people are shown `holdout.shown_points`.

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


def newest(points: Iterable[Point]) -> list[Point]:
    """Return the points without those that a later one of the same parameters replaces: the code or the data changed in between."""
    points, latest = list(points), dict[str, Point]()
    for point in sorted(points, key=lambda point: (point.manifest.get("ended", ""), point.key)):
        if point.status == "complete":
            latest[json.dumps(dict(point.parameters), sort_keys=True)] = point
    replaced = {point.key for point in points if point.status == "complete"} - {point.key for point in latest.values()}
    return [point for point in points if point.key not in replaced]


def column(parameter: str) -> str:
    """Name the column of a parameter; the choice of systems gets Hydra's slash, since ``system`` is the one that a row is about."""
    return "/system" if parameter == "system" else parameter


def sort_key(value: Any) -> tuple[int, float, str]:
    """Order numbers as numbers, before everything else by its text."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (0, float(value), "") if number else (1, 0.0, str(value))
