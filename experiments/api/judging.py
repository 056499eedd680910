"""Verdicts: a run held against a baseline, and runs in files or frames scored against judgments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...evaluation.judging.baseline import Baseline, baseline_of, read_baseline
from ...evaluation.judging.gate import GateReport
from ...evaluation.judging.gate import gate as judge
from ...evaluation.judging.rules import Handling, Rules
from ..rules import changed, rules_named
from .runs import Run, as_run, html_table


class Gate:
    """What a gate found. A notebook shows it as a table, ``print`` as `recallmeter gate` does.

    Attributes:
        report: every finding, with the queries that got worse.
    """

    def __init__(self, report: GateReport) -> None:
        self.report: GateReport = report

    @property
    def verdict(self) -> str:
        """``PASS``, ``REGRESSION`` or ``INCONCLUSIVE``."""
        return str(self.report.verdict)

    @property
    def exit_code(self) -> int:
        """What `recallmeter gate` ends with: 0 pass, 1 regression, 3 inconclusive where that is to fail, 4 a system failed."""
        return self.report.exit_code

    @property
    def passed(self) -> bool:
        """Whether nothing stands in the way: the exit code is 0."""
        return not self.exit_code

    def as_record(self) -> dict[str, Any]:
        """Return everything as JSON-ready values; they are shares, not per cent."""
        from ...reports.gate import record

        return record(self.report)

    def __str__(self) -> str:
        from ...reports.gate import text

        return text(self.report)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        from ...reports.gate import headline, rows

        notes = (f"<p>{escape(line)}</p>" for line in (headline(self.report), *self.report.notes))
        return "".join([*notes, html_table(rows(self.report))])


def gate(
    run: Run | str | Path,
    baseline: Run | Baseline | str | Path,
    rules: Rules | str | Path = "default",
    *,
    max_drop: float | None = None,
    measures: Sequence[str] = (),
    floors: Sequence[str] = (),
    alpha: float | None = None,
    looks: int | None = None,
    on_inconclusive: Handling | None = None,
    on_shown_loss: Handling | None = None,
    systems: Sequence[str] = (),
    p95_latency: float | None = None,
    tokens: float | None = None,
    allow_different_queries: bool = False,
) -> Gate:
    """Say whether a run is worse than what it is held against, as `recallmeter gate` does.

    Args:
        run: a run, or its directory.
        baseline: what `recallmeter baseline` wrote, or a run.
        rules: the name of packaged rules, a YAML file, or rules as an object, which the arguments below leave as they are.
        max_drop: the drop that is accepted, in percentage points, for every rule.
        measures: judge these alone.
        floors: the least means, in per cent, such as ``["recall@10=60"]``.
        alpha: the chance of a REGRESSION where no loss goes beyond what is accepted.
        looks: over how many gates of one baseline that chance is to hold.
        on_inconclusive, on_shown_loss: ``fail``, ``warn`` or ``pass``.
        systems: judge these alone.
        p95_latency: the most that the 95th percentile of a query's time may be, in calibration loops of the run.
        tokens: the most tokens a query may cost on average.
        allow_different_queries: judge the queries that both have, and say how many.

    Raises:
        InputError: data sets, queries or measures differ, or a rule is out of range.
    """
    asked = (
        rules
        if isinstance(rules, Rules)
        else changed(
            rules_named(str(rules)),
            max_drop=max_drop,
            measures=list(measures),
            floors=list(floors),
            alpha=alpha,
            looks=looks,
            on_inconclusive=on_inconclusive,
            on_shown_loss=on_shown_loss,
            systems=list(systems) or None,
            p95_latency=p95_latency,
            tokens=tokens,
        )
    )
    where = str(baseline) if isinstance(baseline, str | Path) else "baseline"
    return Gate(judge(as_run(run).record, as_baseline(baseline), asked, where=where, allow_different=allow_different_queries))


def as_baseline(source: Run | Baseline | str | Path) -> Baseline:
    """Return a baseline: itself, from its file, or taken from a run or its directory."""
    if isinstance(source, Baseline):
        return source
    if isinstance(source, Run) or Path(source).is_dir():
        return baseline_of(as_run(source).record)
    return read_baseline(source)
