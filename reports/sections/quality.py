"""Head to head: the main systems by every headline measure, the recommended one among them, and how far each is behind the best."""

from __future__ import annotations

from ...evaluation.measures.numbers import amount, is_share, pp, scale
from ...evaluation.record import Run
from ..document import Paragraph, Rich, Row, Section, Strong, Table
from ..figures import headline, quality, ranked_main
from ..standing import Standing, lead_words
from ..table import beside, interval, latency, name_of, qualified, under_load


def head_to_head(run: Run, standing: Standing) -> Section:
    """Return the table that carries the verdict, its legend and its figure."""
    if not standing.n:
        return _unranked(run, standing)
    measures = headline(run)
    behind = f"behind the best{pp(standing.measure, ', ')} of {name_of(standing.measure)}"
    head: list[Rich] = ["system", *map(name_of, measures), behind, "p50, ms", "tokens/query"]
    rows: list[Row] = [head]
    for name in ranked_main(run, standing):
        system = run.summary["systems"][name]
        label = qualified(standing.label(name), run, name)
        means = [amount(system["measures"][measure]["mean"], measure) for measure in measures]
        cells = [*means, lead_words(standing, name), latency(system), f"{system['tokens']['mean']:,.0f}"]
        rows.append([Strong(cell) for cell in (label, *cells)] if name == standing.recommended else [label, *cells])
    rows += [[*row, "", "", ""] for row in _attainable(run, measures)]
    words = f"{scale().capitalize()}; n = {standing.n} queries with an answer. "
    words += "Behind the best: paired by query, p by randomisation, corrected after Holm. " if standing.leads else ""
    blocks = [Table(rows), Paragraph(words + _legend(run)), Paragraph(beside(run))]
    return Section("Head to head", [*blocks, quality(run, standing)])


def _unranked(run: Run, standing: Standing) -> Section:
    """Return the table of a run without a query that has an answer: on how many each system stayed silent, and what it cost."""
    rows: list[Row] = [["system", "stayed silent on", "p50, ms", "tokens/query"]]
    for name in ranked_main(run, standing):
        system = run.summary["systems"][name]
        silent = f"{system['unanswerable']['silent']} of {system['unanswerable']['n']}"
        rows.append([qualified(standing.label(name), run, name), silent, latency(system), f"{system['tokens']['mean']:,.0f}"])
    return Section("Head to head", [Table(rows), Paragraph(_legend(run)), Paragraph(beside(run))])


def everything(run: Run, standing: Standing) -> Section | None:
    """Return every system with its intervals, the parts and the controls among them."""
    if not standing.n:
        return None
    measures = headline(run)
    order = [*standing.ranked, *(name for name in run.systems if name not in standing.ranked)]
    rows: list[Row] = [["system", *map(name_of, measures), "p50, ms", "tokens/query"]]
    for name in order:
        system = run.summary["systems"][name]
        cells = [interval(system["measures"][measure], measure) for measure in measures]
        rows.append([qualified(standing.label(name), run, name), *cells, latency(system), f"{system['tokens']['mean']:,.0f}"])
    rows += [[*row, "", ""] for row in _attainable(run, measures)]
    return Section(
        "Every system, with intervals, and the controls", [Table(rows), Paragraph(f"Latency was taken {under_load(run)}.")], collapsed=True
    )


def _attainable(run: Run, measures: list[str]) -> list[Row]:
    """Return the row of ceilings, of those alone that are below 100."""
    ceilings = [(run.summary["ceilings"][measure], measure) for measure in measures]
    cells = [
        "" if ceiling is None or (ceiling > 0.9995 and is_share(measure)) else amount(ceiling, measure) for ceiling, measure in ceilings
    ]
    return [["the best attainable", *cells]] if any(cells) else []


def _legend(run: Run) -> str:
    return (
        f"p50: the median time of a query after warm-up, its embedding included. "
        f"Tokens: of the first {run.manifest['tokens_at']} observations really returned."
    )
