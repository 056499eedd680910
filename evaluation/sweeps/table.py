"""`points.csv`: the points of a sweep for pandas and DuckDB."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from ...datasets.errors import InputError
from ...datasets.file import write_file
from .holdout import shown
from .points import RECORD, Point, column, newest, read_point, sort_key

TABLE = "points.csv"


def write_table(folder: Path) -> None:
    """Write ``points.csv`` into a sweep's folder: a row for every system of every complete point, in the order of the parameters.

    Damaged points are left out; `read_points` names them. So are the queries that the sweep holds back.

    Raises:
        InputError: it can't be written.
    """
    points = [point for point in shown(newest(_sound(folder)), folder) if point.status == "complete"]
    names = sorted({name for point in points for name in point.parameters})
    measures = list(dict.fromkeys(measure for point in points for measure in point.measures))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["point", "system", *map(column, names), *measures, "tokens", "p50_ms", "p95_ms"])
    for point in sorted(points, key=lambda point: [sort_key(point.parameters.get(name)) for name in names]):
        for row, system in enumerate(point.systems):
            means = dict(zip(point.measures, np.nanmean(point.values[row], axis=1).tolist(), strict=True))
            latency = point.latency[system]
            writer.writerow(
                [
                    point.folder,
                    system,
                    *(point.parameters.get(name) for name in names),
                    *(means.get(measure) for measure in measures),
                    point.tokens[system],
                    latency["p50"],
                    latency["p95"],
                ]
            )
    write_file(folder / TABLE, text.getvalue(), "the table of points")


def _sound(folder: Path) -> Iterator[Point]:
    for path in sorted(folder.glob(f"*/{RECORD}")):
        with suppress(InputError):
            if point := read_point(path.parent):
                yield point
