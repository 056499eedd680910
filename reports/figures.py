"""The figures of a report: quality with intervals, the main measure by category, recall against what is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..datasets.file import write_file
from ..evaluation.audits.budget import recall_by_tokens
from ..evaluation.measures.numbers import amount, drawn_as, is_share, percent_sign, scale
from ..evaluation.record import Run
from .document import Picture
from .standing import Standing
from .table import HEADLINE, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("recallmeter.mplstyle")

CERTAIN = 5
"""A mean of fewer queries is drawn hollow and without an interval."""

MARKERS = "osD^vPX*<>"
"""Systems are told apart by shape as well as by colour."""


def quality(run: Run, standing: Standing) -> Picture:
    """Return each headline measure of each main system as a dot with its number and interval; dashed the ceiling where it is below 100."""
    measures, systems = headline(run), ranked_main(run, standing)
    low = any(_below(run.summary["ceilings"][measure]) for measure in measures)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
        for panel, measure in zip(panels, measures, strict=True):
            for row, system in enumerate(systems):
                cell = run.summary["systems"][system]["measures"][measure]
                if cell["mean"] is None:
                    continue
                _dot(panel, cell, drawn_as(measure), row, row)
                place = (drawn_as(measure) * cell["mean"], row)
                label = panel.annotate(amount(cell["mean"], measure), place, (0, 5), textcoords="offset points", fontsize=8)
                label.set_ha("center")
            if _below(run.summary["ceilings"][measure]):
                panel.axvline(drawn_as(measure) * run.summary["ceilings"][measure], color="#D55E00", linestyle="--", linewidth=1.2)
            panel.set(title=name_of(measure), xlabel=percent_sign(measure, ""))
            if is_share(measure):
                panel.set_xlim(-0.04 * drawn_as(measure), 1.04 * drawn_as(measure))
        panels[0].set_yticks(range(len(systems)), [_wrapped(standing.label(system)) for system in systems])
        panels[0].set_ylim(len(systems) - 0.5, -0.7)

    says = f"Quality by system: means of {standing.n} queries {scale()}, with 95 % intervals{_hollow(standing.n)}"
    says += "; dashed: the best attainable" if low else ""
    return Picture("quality", says, (2.1 * len(measures) + 1.6, 0.9 + 0.46 * len(systems)), draw)


def categories(run: Run, standing: Standing) -> Picture:
    """Return the main measure by category: a dot a system, with its 95 % interval where there are queries enough for one."""
    measure, systems = standing.measure, ranked_main(run, standing)
    cells = {
        category: {system: run.summary["systems"][system]["categories"][category][measure] for system in systems}
        for category in run.summary["categories"]
    }
    cells = {category: row for category, row in cells.items() if row[systems[0]]["n"]}
    counts = {category: row[systems[0]]["n"] for category, row in cells.items()}

    def draw(figure: Figure) -> None:
        panel = figure.subplots()
        step = 0.8 / len(systems)
        for position, system in enumerate(systems):
            for index, row in enumerate(cells.values()):
                _dot(panel, row[system], drawn_as(measure), index + (position - (len(systems) - 1) / 2) * step, position)
            panel.plot([], [], MARKERS[position % len(MARKERS)], color=f"C{position % 9}", label=standing.label(system))
        panel.set_yticks(range(len(cells)), [f"{_wrapped(category or 'without category')} (n = {n})" for category, n in counts.items()])
        panel.set_ylim(len(cells) - 0.5, -0.5)
        panel.set(xlabel=f"{name_of(measure)}{percent_sign(measure, ', ')}")
        if is_share(measure):
            panel.set_xlim(-0.02 * drawn_as(measure), 1.02 * drawn_as(measure))
        for boundary in range(1, len(cells)):
            panel.axhline(boundary - 0.5, color="#BBBBBB", linewidth=0.8)
        panel.grid(axis="y", visible=False)
        figure.legend(loc="outside upper center", ncols=min(len(systems), 3))

    says = f"{name_of(measure)} by category, with 95 % intervals{_hollow(min(counts.values(), default=CERTAIN))}"
    return Picture("categories", says, (8, 1.3 + 0.2 * len(cells) * len(systems)), draw)


def budget(run: Run, standing: Standing) -> Picture:
    """Return recall against the tokens that an agent reads: a line a system, a dot a depth, a band the 95 % interval of the recall."""
    systems = ranked_main(run, standing)

    def draw(figure: Figure) -> None:
        panel, unit = figure.subplots(), drawn_as()
        for position, system in enumerate(systems):
            read = recall_by_tokens(run, system)
            color, marker = f"C{position % 9}", MARKERS[position % len(MARKERS)]
            means, face = [unit * mean for mean in read.recall], "none" if standing.n < CERTAIN else color
            panel.plot(read.tokens, means, f"{marker}-", markersize=4, color=color, label=standing.label(system), markerfacecolor=face)
            if standing.n >= CERTAIN and read.low and read.high:
                panel.fill_between(
                    read.tokens, [unit * v for v in read.low], [unit * v for v in read.high], color=color, alpha=0.12, linewidth=0
                )
        panel.set(
            xlabel=f"tokens read per query ({run.manifest['tokens_counter']})",
            ylabel=f"recall{percent_sign(before=', ')}",
            ylim=(0, 1.02 * unit),
        )
        panel.set_xlim(left=0)
        panel.legend(fontsize=8)

    says = f"Recall against the tokens read, a dot for each depth of the answer, with 95 % intervals{_hollow(standing.n)}"
    return Picture("budget", says, (7, 4.2), draw)


def headline(run: Run) -> list[str]:
    """Return the headline measures that a run has; all of them where it has none of those."""
    return [measure for measure in HEADLINE if measure in run.measures] or list(run.measures)


def ranked_main(run: Run, standing: Standing) -> list[str]:
    """Return the main systems, the highest mean first."""
    order = {system: place for place, system in enumerate(standing.ranked)}
    return sorted(standing.main, key=lambda system: (order.get(system, len(order)), system))


def _dot(panel: Axes, cell: Mapping[str, Any], unit: int, height: float, position: int) -> None:
    color, marker, certain = f"C{position % 9}", MARKERS[position % len(MARKERS)], cell["n"] >= CERTAIN
    if certain and cell["low"] is not None:
        panel.plot([unit * cell["low"], unit * cell["high"]], [height, height], color=color, alpha=0.45, linewidth=3, solid_capstyle="butt")
    panel.plot(unit * cell["mean"], height, marker, color=color, markersize=6, zorder=3, markerfacecolor=color if certain else "white")


def _below(ceiling: float | None) -> bool:
    return ceiling is not None and ceiling < 0.9995


def _hollow(fewest: int) -> str:
    return f"; hollow and without one where n < {CERTAIN}" if fewest < CERTAIN else ""


def _wrapped(text: str, width: int = 24) -> str:
    from textwrap import fill

    return fill(text.replace("$", r"\$"), width)  # a dollar would begin a formula


def drawn(picture: Picture, form: str) -> bytes:
    """Return a figure as ``svg`` or ``png``, without a date."""
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(STYLE):
        figure = Figure(figsize=picture.size)
        picture.draw(figure)
        return _saved(figure, form)


@contextmanager
def figure_file(path: Path, size: tuple[float, float]) -> Iterator[Figure]:
    """Give a figure in the house style and write it to `path` as SVG without a date."""
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(STYLE):
        figure = Figure(figsize=size)
        yield figure
        content = _saved(figure, "svg")
    write_file(path, content, "the figure")


def _saved(figure: Figure, form: str) -> bytes:
    file = BytesIO()
    figure.savefig(file, format=form, metadata={"Date": None} if form == "svg" else {"Software": None})
    return file.getvalue()
