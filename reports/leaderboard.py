"""A leaderboard for people: table, effects, and figures of the parameters that were varied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..evaluation.measures.numbers import NONE, amount, pp, shift
from ..evaluation.sweeps.leaderboard import Leaderboard, Row
from ..evaluation.sweeps.points import column
from .figures import figure_file
from .table import HEADLINE, milliseconds


def table(board: Leaderboard, limit: int | None = None, held: Leaderboard | None = None) -> list[list[str]]:
    """Return the table, its head first; ``=`` marks what cannot be told from the first row, ``*`` the Pareto front.

    `held` ranks the same configurations on queries that none was chosen on; its means are added.
    """
    name = HEADLINE.get(board.measure, board.measure)
    others, beside = _others(held), [f"{name} held out"] if held else []
    rows = [["#", "system", *map(short, board.varied), name, "95 % interval", *beside, "replicates", "tokens/query", "p50 ms", "mark"]]
    for number, row in enumerate(board.rows[:limit], start=1):
        values = [_written(row.parameters[parameter]) for parameter in board.varied]
        spread = NONE if row.low is None else f"[{amount(row.low, board.measure)}, {amount(row.high, board.measure)}]"
        marks = ("=" if row.even else "") + ("*" if row.front else "")
        cost = [f"{row.tokens:,.0f}", milliseconds(row.latency)]
        unseen = [amount(others.get(_configuration(row)), board.measure)] if held else []
        copies = f"{row.replicates} (the same)" if row.distinct < row.replicates and row.distinct == 1 else str(row.replicates)
        rows.append([str(number), row.system, *values, amount(row.mean, board.measure), spread, *unseen, copies, *cost, marks])
    return rows


def notes(board: Leaderboard, held: Leaderboard | None = None) -> list[str]:
    """Return what a reader of the table must know: what its marks mean, and what the choice of the best is worth."""
    said = ["= cannot be told from the first row (p ≥ .05 over all pairs); * on the Pareto front of quality, tokens, latency"]
    if len(board.rows) > 1 and held is not None:
        unseen = _others(held).get(_configuration(board.rows[0]))
        said.append(f"the first row, chosen on its queries, reaches {amount(unseen, board.measure)} on those that it was not chosen on")
    elif len(board.rows) > 1 and board.corrected is not None:
        worth = amount(board.corrected, board.measure)
        said.append(f"the first row was chosen among {len(board.rows)}: {worth} is what such a choice is worth on other queries")
    if copies := sum(row.replicates - row.distinct for row in board.rows):
        said.append(f"{copies} replicates are copies of others; queries are the units, so they narrow nothing")
    return said


def _others(held: Leaderboard | None) -> dict[str, float]:
    return {} if held is None else {_configuration(row): row.mean for row in held.rows}


def _configuration(row: Row) -> str:
    return repr((row.system, sorted(row.parameters.items())))


def effects_table(board: Leaderboard) -> list[list[str]]:
    """Return the main effects of crossed parameters, their head first; the parameter that matters most comes first."""
    spans: dict[str, list[float]] = {}
    for effect in (effect for effect in board.effects if effect.parameter in board.crossed):
        spans.setdefault(effect.parameter, []).append(effect.mean)
    order = sorted(spans, key=lambda name: (min(spans[name]) - max(spans[name]), name))
    rows = [["parameter", "value", "rows", f"effect{pp(board.measure, ', ')}", "95 % interval"]]
    for name in order:
        for effect in board.effects:
            if effect.parameter == name:
                spread = f"[{shift(effect.low, board.measure)}, {shift(effect.high, board.measure)}]"
                rows.append([name, _written(effect.value), str(effect.rows), shift(effect.mean, board.measure), spread])
    return rows


def records(board: Leaderboard, held: Leaderboard | None = None) -> list[dict[str, Any]]:
    """Return the rows as flat records, for CSV and JSON."""
    others = _others(held)
    return [
        {
            "rank": number,
            "system": row.system,
            **{column(name): value for name, value in row.parameters.items()},
            board.measure: row.mean,
            "low": row.low,
            "high": row.high,
            "p_all_pairs": row.adjusted,
            **({"held_out": others.get(_configuration(row))} if held else {}),
            "distinct": row.distinct,
            "replicates": row.replicates,
            "tokens": row.tokens,
            "p50_ms": row.latency,
            "pareto": row.front,
        }
        for number, row in enumerate(board.rows, start=1)
    ]


def draw(board: Leaderboard, folder: Path) -> list[Path]:
    """Draw what the number of varied parameters allows: lines for one, a heat map for two; always the front. Return the files."""
    files = [folder / "front.svg"]
    _front(board, files[0])
    numeric = [name for name in board.varied if all(_is_number(row.parameters[name]) for row in board.rows)]
    if len(numeric) == len(board.varied) == 1:
        files.append(folder / "lines.svg")
        _lines(board, board.varied[0], files[-1])
    elif len(board.crossed) == len(board.varied) == 2:
        files.append(folder / "heat.svg")
        _heat(board, board.varied, files[-1])
    return files


def _front(board: Leaderboard, path: Path) -> None:
    name = HEADLINE.get(board.measure, board.measure)
    with figure_file(path, (8, 3.8)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for panel, (attribute, label) in zip(panels, (("tokens", "tokens read per query"), ("latency", "p50 latency, ms")), strict=True):
            for rows, color, what in ((_on_front(board, False), "#BBBBBB", "other points"), (_on_front(board, True), "C5", "Pareto front")):
                panel.plot(
                    [getattr(row, attribute) for row in rows], [100 * row.mean for row in rows], "o", color=color, markersize=5, label=what
                )
            panel.set(xlabel=label)
        panels[0].set(ylabel=f"{name}, %")
        panels[1].legend()


def _on_front(board: Leaderboard, wanted: bool) -> list[Row]:
    return [row for row in board.rows if row.front == wanted]


def _lines(board: Leaderboard, parameter: str, path: Path) -> None:
    with figure_file(path, (7, 4)) as figure:
        panel = figure.subplots()
        for position, system in enumerate(sorted({row.system for row in board.rows})):
            rows = sorted((row for row in board.rows if row.system == system), key=lambda row: row.parameters[parameter])
            x, color = [row.parameters[parameter] for row in rows], f"C{position % 9}"
            panel.plot(x, [100 * row.mean for row in rows], "o-", color=color, label=system, markersize=4)
            if all(row.low is not None for row in rows):
                low, high = ([100 * (getattr(row, end) or 0.0) for row in rows] for end in ("low", "high"))
                panel.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
        panel.set(xlabel=parameter, ylabel=f"{HEADLINE.get(board.measure, board.measure)}, %, with 95 % interval")
        panel.legend()


def _heat(board: Leaderboard, parameters: tuple[str, ...], path: Path) -> None:
    across, down = parameters
    columns, lines = board.values(across), board.values(down)
    best: dict[tuple[str, str], float] = {}
    for row in reversed(board.rows):
        best[repr(row.parameters[across]), repr(row.parameters[down])] = 100 * row.mean
    grid = [[best.get((repr(x), repr(y)), float("nan")) for x in columns] for y in lines]
    with figure_file(path, (2.5 + 0.6 * len(columns), 1.8 + 0.42 * len(lines))) as figure:
        panel = figure.subplots()
        image = panel.imshow(grid, cmap="cividis", aspect="auto")
        panel.grid(visible=False)
        panel.set_xticks(range(len(columns)), map(_written, columns))
        panel.set_yticks(range(len(lines)), map(_written, lines))
        panel.set(xlabel=across, ylabel=down)
        figure.colorbar(image, label=f"{HEADLINE.get(board.measure, board.measure)}, %")


def short(parameter: str) -> str:
    """Shorten a dotted key to its last two parts, which is what people call it."""
    return ".".join(parameter.split(".")[-2:])


def _written(value: Any) -> str:
    return NONE if value is None else f"{value:g}" if _is_number(value) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
