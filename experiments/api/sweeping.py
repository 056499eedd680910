"""Sweeps: many configurations, each run once, and their ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...datasets.errors import InputError
from ...evaluation.sweeps.leaderboard import Leaderboard
from .runs import html_table

if TYPE_CHECKING:
    from pandas import DataFrame


class Ranked:
    """The points of a sweep, best first. A notebook shows them as a table.

    Attributes:
        board: the leaderboard behind it: rows, effects, what failed.
        folders: where the points lie.
        held: the same configurations on queries that none was chosen on; None where none were set apart, or they are not shown.
        notes: what a reader must know: what the choice of the best is worth, what is held back and how often it was shown.
    """

    def __init__(self, board: Leaderboard, folders: Sequence[Path], held: Leaderboard | None = None, notes: Sequence[str] = ()) -> None:
        self.board: Leaderboard = board
        self.folders: tuple[Path, ...] = tuple(folders)
        self.held: Leaderboard | None = held
        self.notes: tuple[str, ...] = tuple(notes)

    def summary(self) -> DataFrame:
        """Return a row a configuration and system: its parameters, the measure with its interval, p against the first, tokens, p50."""
        from pandas import DataFrame

        from ...reports.leaderboard import records

        return DataFrame(records(self.board, self.held))

    def effects(self) -> DataFrame:
        """Return a row a value of a varied parameter: what it is worth on average over the others, with its 95 % interval."""
        from pandas import DataFrame

        return DataFrame([vars(effect) for effect in self.board.effects])

    def __repr__(self) -> str:
        from ...reports.leaderboard import table
        from ...reports.table import aligned

        return "\n".join([aligned(table(self.board, held=self.held)), *self.notes])

    def _repr_html_(self) -> str:
        from html import escape

        from ...reports.leaderboard import table

        return "".join([html_table(table(self.board, held=self.held)), *(f"<p>{escape(note)}</p>" for note in self.notes)])


def sweep(
    *overrides: str,
    grid: Mapping[str, Sequence[Any]] | None = None,
    folder: str | Path = "multirun/sweep",
    measure: str = "recall@10",
    retry_failed: bool = False,
) -> Ranked:
    """Run every configuration that is not there yet, as `recallmeter sweep` does, and rank them all.

    Args:
        overrides: as on the command line, such as ``"system=dual"`` or ``"dataset.seed=range(0,5)"``.
        grid: setting → its values, such as ``{"systems.dual.depth": [2, 5]}``; every combination is a point.
        folder: where the points are kept, and found again.
        measure: what the ranking is by.
        retry_failed: run points again that failed before.

    Raises:
        InputError: an unknown setting, a value that can't be written on a line, or no point was completed. Points that fail are
            named on stderr and counted in ``board.failed``.
    """
    from ..doors.sweep import run_sweep

    spans = [f"{key}={','.join(_value(value, key) for value in values)}" for key, values in (grid or {}).items()]
    run_sweep([*overrides, *spans, f"hydra.sweep.dir={folder}"], retry_failed=retry_failed)
    return leaderboard(folder, measure=measure)


def leaderboard(
    *folders: str | Path,
    measure: str = "recall@10",
    system: str | None = None,
    by: Sequence[str] | None = None,
    select_on: float | None = None,
    split_seed: int = 0,
    reveal: bool = False,
) -> Ranked:
    """Rank the points of finished sweeps.

    Args:
        folders: what `recallmeter sweep` wrote.
        measure: what is ranked; higher is better.
        system: only this one; None takes all.
        by: only these parameters tell rows apart, each the mean over all others; None takes every varied one.
        select_on: rank on this share of the queries and report the others beside; None ranks on all that are not held back.
        split_seed: which of the queries those are.
        reveal: report the queries beside that ``sweep.holdout`` held back; each time is remembered in the folder, and told.

    Raises:
        InputError: no complete point, or none that has the measure, the system or a parameter; no share; nothing that is held back.
    """
    from ...evaluation.measures.grammar import parse_measure
    from ...evaluation.sweeps.holdout import held_points, shown_points, told, unveil
    from ...evaluation.sweeps.split import check_share, split
    from ...reports.leaderboard import notes

    paths, name, others = [Path(folder) for folder in folders], str(parse_measure(measure)), None
    points = shown_points(paths)
    if select_on is not None and reveal:
        raise InputError("queries are set apart either now or from the start", where="--reveal", remedy="leave --select-on out")
    if select_on is not None:
        check_share(select_on, "--select-on")
        points, others = split(points, select_on, seed=split_seed)
    elif reveal:
        others = held_points(paths)
    board = Leaderboard(points, name, system=system, by=by)
    held = None if others is None else Leaderboard(others, name, system=system, by=by)
    if held is not None:
        _ = held.rows  # what can't be ranked is not revealed
    if reveal:
        unveil(paths)
    return Ranked(board, paths, held, [*notes(board, held), *told(paths)])


def _value(value: Any, key: str) -> str:
    """Write a value as Hydra reads it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        quoted = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{quoted}'"
    raise InputError(f"{value!r} can't be swept", where=key, remedy="sweep over numbers, texts, true and false")
