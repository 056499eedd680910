"""The page of a history: a figure and a table for each system and measure, with steps and anchor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..evaluation.judging.history import History, Step
from ..evaluation.measures.numbers import NONE, amount, drawn_as, percent_sign, pp, probability, shift, shifted
from .document import Code, Document, Inline, Items, Link, Paragraph, Picture, Rich, Row, Section, Strong, Table
from .table import bounds, interval, name_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Pages = Mapping[tuple[str, str], str]
"""Labels of two runs → the explorer that holds both."""


def history_report(histories: Sequence[History], pages: Pages) -> Document:
    """Return the report of several histories of one data set."""
    first = histories[0]
    moments = list(dict.fromkeys(moment.label for history in histories for moment in history.moments))
    opening = [
        Paragraph([Strong(_headline(histories)), f" {len(moments)} runs, the oldest {first.moments[0].label}, the newest {moments[-1]}."]),
        Paragraph(
            "A step is where the piecewise constant line of least absolute error changes its level; the two runs beside it are then "
            f"compared query by query. {'In percent, with' if percent_sign() else 'With'} 95 % intervals over the queries of each run."
        ),
    ]
    sections = [section for number, history in enumerate(histories) for section in _sections(history, number, pages)]
    numbers = {"histories": [_numbers(history) for history in histories]}
    return Document("History", opening, sections, numbers)


def _headline(histories: Sequence[History]) -> str:
    steps = [(history, history.steps[-1]) for history in histories if history.steps]
    if not steps:
        return "No step in any measure."
    history, step = max(steps, key=lambda one: (one[0].moments[one[1].at].when, abs(one[1].after - one[1].before)))
    return (
        f"The latest step: {history.system} {name_of(history.measure)} {shifted(step.after - step.before, history.measure)} at "
        f"{history.moments[step.at].label}."
    )


def _sections(history: History, number: int, pages: Pages) -> Iterator[Section]:
    title = f"{history.system}: {name_of(history.measure)}"
    told: list[Rich] = [_step(history, step, pages) for step in history.steps]
    steps = Items(told) if told else Paragraph("No step.")
    yield Section(title, [steps, _figure(history, number), Table(list(_rows(history)), (0, 1, 2))])


def _step(history: History, step: Step, pages: Pages) -> Rich:
    before, after = history.moments[step.at - 1], history.moments[step.at]
    parts: list[Inline] = [Strong(f"{amount(step.before, history.measure)} → {amount(step.after, history.measure)}"), f" at {after.label}"]
    if after.commit:
        parts += [" (", Code(after.commit), ")"]
    if step.difference:
        found = step.difference
        parts.append(
            f": against {before.label} {shifted(found.mean, found.measure)} {bounds(found)}, p {probability(found.p)}, "
            f"better on {found.wins} queries, worse on {found.losses}"
        )
    page = pages.get((before.label, after.label))
    return [*parts, ". ", Link("The queries of both runs", f"{page}#view=compare")] if page else [*parts, "."]


def _rows(history: History) -> Iterator[Row]:
    unit = pp(history.measure, ", ")
    yield ["run", "when", "commit", "n", name_of(history.measure), f"since the one before{unit}", f"since the anchor{unit}", "step"]
    steps = {step.at: step for step in history.steps}
    anchor = history.values[history.anchor].mean
    for place, (moment, value) in enumerate(zip(history.moments, history.values, strict=True)):
        spread = interval(value._asdict(), history.measure)
        since = NONE if not place else shift(value.mean - history.values[place - 1].mean, history.measure)
        held = "anchor" if place == history.anchor else shift(value.mean - anchor, history.measure)
        step = shift(steps[place].after - steps[place].before, history.measure) if place in steps else ""
        when = moment.when[:16].replace("T", " ")
        yield [moment.label, when, Code(moment.commit) if moment.commit else NONE, str(value.n), spread, since, held, step]


def _figure(history: History, number: int) -> Picture:
    values, name, scale = history.values, name_of(history.measure), drawn_as(history.measure)

    def draw(figure: Figure) -> None:
        panel = figure.subplots()
        x, means = range(len(values)), [scale * value.mean for value in values]
        low, high = (
            [scale * (end if end is not None else value.mean) for value in values for end in (getattr(value, side),)]
            for side in ("low", "high")
        )
        panel.fill_between(x, low, high, color="C0", alpha=0.15, linewidth=0)
        panel.plot(x, means, "o", color="C0", markersize=5)
        edges = [0, *(step.at for step in history.steps), len(values)]
        for begin, end in pairwise(edges):
            level = sorted(means[begin:end])[(end - begin) // 2]
            panel.plot([begin - 0.4, end - 0.6], [level, level], color="C5", linewidth=1.8)
        panel.axhline(means[history.anchor], color="#555555", linestyle=":", linewidth=1.2)
        panel.annotate("anchor", (len(values) - 0.5, means[history.anchor]), ha="right", va="bottom", fontsize=8, color="#555555")
        panel.set(ylabel=f"{name}{percent_sign(history.measure, ', ')}", xlim=(-0.6, len(values) - 0.4))
        every = -(-len(values) // 12)
        labels = [moment.commit or moment.label for moment in history.moments]
        panel.set_xticks(list(x)[::every], [label[:12] for label in labels[::every]], rotation=30, ha="right", fontsize=8)

    says = f"{history.system}, {name} over {len(values)} runs, with 95 % intervals; lines: the levels between steps; dotted: the anchor"
    return Picture(f"{number}", says, (8, 3), draw)


def _numbers(history: History) -> dict[str, Any]:
    return {
        "system": history.system,
        "measure": history.measure,
        "anchor": history.moments[history.anchor].label,
        "values": [
            {"run": moment.label, "when": moment.when, "commit": moment.commit, **value._asdict()}
            for moment, value in zip(history.moments, history.values, strict=True)
        ],
        "steps": [{"run": history.moments[step.at].label, "before": step.before, "after": step.after} for step in history.steps],
    }
