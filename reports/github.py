"""A gate's findings for GitHub Actions: annotations in the log, and a summary in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ..evaluation.inference.verdict import Verdict
from ..evaluation.judging.gate import GateReport
from .gate import bar_text, failure_text, headline, lines, rows
from .table import markdown

_MARKS = {Verdict.PASS: "✅", Verdict.REGRESSION: "❌", Verdict.INCONCLUSIVE: "❔"}


def workflow_commands(report: GateReport) -> Iterator[str]:
    """Yield annotations: an error for what makes the job fail, a warning for what is open, a notice for what hangs on ties."""
    for failure in report.failures:
        yield _command("error", f"{failure['system']} failed", failure_text(failure))
    for finding in report.findings:
        title = f"{finding.system} {finding.name}: {finding.verdict}"
        if report.fails(finding):
            yield _command("error", title, finding.why)
        elif report.warns(finding):
            yield _command("warning", title, finding.why)
        if finding.ties:
            yield _command("notice", title, f"the verdict hangs on ties: {finding.ties}")
    for bar in report.bars:
        if bar.verdict is Verdict.REGRESSION:
            yield _command("error", f"{bar.system} {bar.name}", bar_text(bar))


def summary(report: GateReport) -> str:
    """Write the step summary."""
    title = "💥 Recallmeter gate: FAILED" if report.failures else f"{_MARKS[report.verdict]} Recallmeter gate: {report.verdict}"
    parts = [f"## {title}", headline(report), markdown(rows(report), left=(0, 1))]
    for finding in report.findings:
        first, *rest = map(escape, lines(finding))
        if rest:
            parts.append(f"<details><summary>{first}</summary><pre>" + "\n".join(rest) + "</pre></details>")
        elif finding.verdict is not Verdict.PASS:
            parts.append(first)
    parts += [f"> {escape(note)}" for note in report.notes]
    return "\n\n".join(parts) + "\n"


def _command(kind: str, title: str, message: str) -> str:
    """Write a workflow command; GitHub wants these characters escaped, and more of them in a property than in the message."""
    for character, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        title, message = title.replace(character, code), message.replace(character, code)
    return f"::{kind} title={title.replace(':', '%3A').replace(',', '%2C')}::{message}"
