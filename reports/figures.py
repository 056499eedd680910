"""The figures of a report, as SVG: quality with intervals, recall by category, recall against what is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ..datasets.file import write_file
from ..evaluation.audits.budget import recall_by_tokens
from ..evaluation.record import Run
from .table import HEADLINE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("recallmeter.mplstyle")


def quality_figure(run: Run, path: Path, systems: Sequence[str]) -> None:
    """Draw each headline measure of each system as a dot with its 95 % interval, and the ceiling as a line."""
    measures = [measure for measure in HEADLINE if measure in run.measures]
    with figure_file(path, (2.3 * len(measures), 0.9 + 0.34 * len(systems))) as figure:
        panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
        for panel, measure in zip(panels, measures, strict=True):
            for row, system in enumerate(systems):
                cell = run.summary["systems"][system]["measures"][measure]
                if cell["mean"] is None:
                    continue
                low, high = (cell[end] if cell[end] is not None else cell["mean"] for end in ("low", "high"))
                panel.plot([100 * low, 100 * high], [row, row], color="#9A9A9A", linewidth=2, solid_capstyle="butt", zorder=2)
                panel.plot(100 * cell["mean"], row, "o", color=f"C{row % 9}", markersize=6, zorder=3)
            ceiling = run.summary["ceilings"][measure]
            if ceiling is not None:
                panel.axvline(100 * ceiling, color="#D55E00", linestyle="--", linewidth=1.2)
            panel.set(title=HEADLINE[measure], xlabel="%", xlim=(-2, 102))
        panels[0].set_yticks(range(len(systems)), systems)
        panels[0].set_ylim(len(systems) - 0.5, -0.5)
        figure.suptitle("Mean with 95 % interval; dashed: the best attainable", x=0.01, ha="left", fontsize=9)


def category_figure(run: Run, path: Path, systems: Sequence[str], measure: str = "recall@10") -> None:
    """Draw one measure by category: a dot a system, with its 95 % interval."""
    categories = [c for c in run.summary["categories"] if run.summary["systems"][systems[0]]["categories"][c][measure]["n"]]
    with figure_file(path, (8, 0.9 + 0.24 * len(categories) * len(systems))) as figure:
        panel = figure.subplots()
        step = 0.8 / len(systems)
        for position, system in enumerate(systems):
            heights = [index + (position - (len(systems) - 1) / 2) * step for index in range(len(categories))]
            cells = [run.summary["systems"][system]["categories"][c][measure] for c in categories]
            means = [100 * cell["mean"] for cell in cells]
            spread = [
                [100 * (cell["mean"] - cell["low"]) if cell["low"] is not None else 0 for cell in cells],
                [100 * (cell["high"] - cell["mean"]) if cell["high"] is not None else 0 for cell in cells],
            ]
            panel.errorbar(means, heights, xerr=spread, fmt="o", markersize=5, elinewidth=1.5, color=f"C{position % 9}", label=system)
        counts = [run.summary["systems"][systems[0]]["categories"][c][measure]["n"] for c in categories]
        panel.set_yticks(range(len(categories)), [f"{c} (n = {n})" for c, n in zip(categories, counts, strict=True)])
        panel.set_ylim(len(categories) - 0.5, -0.5)
        panel.set(xlabel=f"{HEADLINE.get(measure, measure)}, %, with 95 % interval", xlim=(-2, 102))
        for boundary in range(1, len(categories)):
            panel.axhline(boundary - 0.5, color="#BBBBBB", linewidth=0.8)
        panel.grid(axis="y", visible=False)
        figure.legend(loc="outside upper center", ncols=min(len(systems), 5))


def budget_figure(run: Run, path: Path, systems: Sequence[str]) -> None:
    """Draw recall against the tokens that an agent reads, one point for each depth of the answer."""
    with figure_file(path, (7, 4.2)) as figure:
        panel = figure.subplots()
        for position, system in enumerate(systems):
            tokens, recalls = recall_by_tokens(run, system)
            panel.plot(tokens, [100 * recall for recall in recalls], "o-", markersize=3, color=f"C{position % 9}", label=system)
        panel.set(xlabel=f"tokens read per query ({run.manifest['tokens_counter']})", ylabel="recall, %", ylim=(0, 102))
        panel.set_xlim(left=0)
        panel.set_title("Recall against what is read: one dot for each depth of the answer")
        panel.legend()


@contextmanager
def figure_file(path: Path, size: tuple[float, float]) -> Iterator[Figure]:
    """Give a figure in the house style and write it to `path` as SVG without a date."""
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(STYLE):
        figure = Figure(figsize=size)
        yield figure
        drawn = BytesIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    write_file(path, drawn.getvalue(), "the figure")
