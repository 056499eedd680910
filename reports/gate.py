"""What a gate found, for a terminal, for Markdown and as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..evaluation.inference.verdict import Verdict
from ..evaluation.judging.gate import Bar, Finding, GateReport
from ..evaluation.measures.numbers import NONE, amount, common_unit, probability, shift
from .comparison import change_record, listed
from .table import aligned

SHOWN = 10
"""How many queries of each finding are shown."""


def headline(report: GateReport) -> str:
    """Say the verdict, and what its chances of being wrong are."""
    if report.failures:
        failed = report.failures[0]
        return f"FAILED: {failed['system']} on {failure_text(failed)}"
    tests, rules = sum(finding.decision is not None for finding in report.findings), report.rules
    if not tests:
        return f"{report.verdict} over bars alone: no chance is in them."
    return (
        f"{report.verdict} over {tests} comparison{'s' if tests > 1 else ''}. "
        f"Where no loss goes beyond what is accepted, the chance of any REGRESSION is at most "
        f"{rules.alpha:g} (Holm); a loss of the MDE is called one with probability {rules.power:g}. Bars are outside this."
    )


def rows(report: GateReport) -> list[list[str]]:
    """Return the table of findings and bars, its head first."""
    unit = common_unit(finding.rule.measure for finding in report.findings)
    table = [["system", "rule", "n", "baseline", "run", f"Δ{unit}", "at worst", "p", "Holm", f"MDE{unit}", "as seen", "verdict"]]
    for finding in report.findings:
        measure = finding.rule.measure
        decision = finding.decision
        cells = [finding.system, finding.name, str(finding.n), amount(finding.before, measure), amount(finding.after, measure)]
        if decision is None:
            cells += [shift(finding.after - finding.before, measure), *[NONE] * 5]
        else:
            worst = NONE if decision.lowest is None else shift(decision.lowest, measure)
            cells += [shift(decision.mean, measure), worst, probability(decision.p), probability(decision.adjusted)]
            cells += [amount(decision.worst, measure), amount(decision.detectable, measure)]
        table.append([*cells, str(finding.verdict)])
    for bar in report.bars:
        limit = f"≤ {bar.ceiling:g}"
        table.append([bar.system, bar.name, NONE, limit, f"{bar.value:.1f}", *[NONE] * 6, str(bar.verdict)])
    return table


def text(report: GateReport) -> str:
    """Write the whole report for a terminal."""
    parts = [headline(report), aligned(rows(report))]
    parts += ["\n".join(lines(f)) for f in report.findings if f.verdict is not Verdict.PASS or f.worse or f.ties]
    parts += ["\n".join(f"note: {note}" for note in report.notes)]
    return "\n\n".join(filter(None, parts))


def failure_text(failure: Mapping[str, Any]) -> str:
    """Say how a system failed."""
    if not failure["queries"]:
        return f"once it had answered: {failure['error']}"
    return f"{failure['queries']} {'query' if failure['queries'] == 1 else 'queries'}, the first {failure['query']}: {failure['error']}"


def bar_text(bar: Bar) -> str:
    """Say what was measured against a ceiling."""
    value = f"{bar.value:.1f}" if round(bar.value, 1) > bar.ceiling or bar.verdict is Verdict.PASS else f"{bar.value:g}"
    return f"{value}, at most {bar.ceiling:g} allowed"


def lines(finding: Finding) -> Iterator[str]:
    """Yield one finding in words, with the queries that got worse."""
    yield f"{finding.verdict}  {finding.system} {finding.name}: {finding.why}"
    if finding.ties:
        yield f"  the verdict hangs on ties: {finding.ties}"
    if finding.labels:
        yield f"  {finding.labels}"
    if finding.worse:
        yield f"  {len(finding.worse)} of {finding.n} queries got worse, the worst first:"
        yield from (f"  {line}" for line in listed(finding.worse, SHOWN))


def record(report: GateReport) -> dict[str, Any]:
    """Return the whole report JSON-ready; values are shares, not per cent."""
    return {
        "verdict": str(report.verdict),
        "exit_code": report.exit_code,
        "alpha": report.rules.alpha,
        "power": report.rules.power,
        "findings": [_finding(finding) for finding in report.findings],
        "bars": [{**vars(bar), "verdict": str(bar.verdict)} for bar in report.bars],
        "notes": list(report.notes),
        "failures": [dict(failure) for failure in report.failures],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    decision = {} if finding.decision is None else {k: v for k, v in vars(finding.decision).items() if k not in ("verdict", "why")}
    return {
        "system": finding.system,
        "since_anchor": finding.since_anchor,
        **{name: value for name, value in vars(finding.rule).items() if value is not None},
        "n": finding.n,
        "before": finding.before,
        "after": finding.after,
        **decision,
        "verdict": str(finding.verdict),
        "why": finding.why,
        "ties": finding.ties,
        "labels": finding.labels,
        "worse": [change_record(change) for change in finding.worse],
    }
