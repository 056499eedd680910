"""What each step between two systems adds: one row a step in the open, every test among the collapsed sections."""

from __future__ import annotations

from ...evaluation.judging.compare import Difference
from ...evaluation.measures.numbers import amount, probability, shifted
from ...evaluation.record import Run
from ..document import Items, Paragraph, Row, Section, Table
from ..standing import Standing, more_words, outcome
from ..table import bounds, name_of

_HEAD = ["Δ", "95 % interval", "p (Holm)", "better/same/worse", "detectable", "verdict"]


def steps(run: Run, standing: Standing) -> Section | None:
    """Return a row a step on the main measure, and in words what else is shown."""
    if not standing.steps:
        return None
    rows: list[Row] = [["step", *_HEAD]]
    rows += [[step.title, *_cells(step.differences[standing.measure])] for step in standing.steps]
    legend = (
        f"{name_of(standing.measure)}, paired by query, with a bootstrap interval; p by randomisation, corrected together with the leads "
        "of the best system. Detectable: the smallest true change that so many queries show with 80 % probability. A change counts as "
        "shown where the corrected p is below .05."
    )
    also = [words for step in standing.steps if (words := more_words(step, standing.measure))]
    told = [Paragraph("Shown on other measures:"), Items(also)] if also else []
    return Section("What each step adds", [Table(rows, (0, 6)), Paragraph(legend), *told])


def tests(run: Run, standing: Standing) -> Section | None:
    """Return every test of every step."""
    rows: list[Row] = [["step", "measure", *_HEAD]]
    for step in standing.steps:
        rows += [[step.title, name_of(measure), *_cells(found)] for measure, found in step.differences.items()]
    if len(rows) == len(standing.steps) + 1:
        return None
    legend = f"The tests on measures other than {name_of(standing.measure)} are corrected as a family of their own."
    return Section("Every test of every step", [Table(rows, (0, 1, 7)), Paragraph(legend)], collapsed=True)


def _cells(found: Difference) -> list[str]:
    record = f"{found.wins}/{found.ties}/{found.losses}"
    corrected, detectable = probability(found.adjusted), amount(found.detectable, found.measure)
    return [shifted(found.mean, found.measure), bounds(found), corrected, record, detectable, outcome(found)]
