"""A gate's findings as JUnit XML, which every CI server shows."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from ..evaluation.inference.verdict import Verdict
from ..evaluation.judging.gate import GateReport
from .gate import bar_text, failure_text, lines

_FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")  # not in XML 1.0, escaped or not


def junit(report: GateReport, *, name: str, ended: str) -> str:
    """Write one suite a system and one case a rule or ceiling.

    A REGRESSION is a failure; so is something INCONCLUSIVE that the rules let fail. A system that failed while running is
    an error. Elements and attributes are those of Ant's own report, in its order, which the stricter readers insist on.

    Args:
        name: of the run.
        ended: when the run ended, ISO 8601.
    """
    root = ElementTree.Element("testsuites")
    for number, system in enumerate(dict.fromkeys(finding.system for finding in report.findings)):
        cases = [*_findings(report, system), *_bars(report, system), *_failures(report, system)]
        kinds = [kind for _, kind, *_ in cases]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            {
                "package": "recallmeter.gate",
                "id": str(number),
                "name": _clean(f"recallmeter.gate.{system}"),
                "timestamp": ended[:19],
                "hostname": "localhost",
                "tests": str(len(cases)),
                "failures": str(kinds.count("failure")),
                "errors": str(kinds.count("error")),
                "time": "0",
            },
        )
        properties = ElementTree.SubElement(suite, "properties")
        ElementTree.SubElement(properties, "property", {"name": "run", "value": _clean(name)})
        for case, kind, verdict, message, details in cases:
            element = ElementTree.SubElement(
                suite, "testcase", {"name": _clean(case), "classname": _clean(f"recallmeter.gate.{system}"), "time": "0"}
            )
            if kind:
                ElementTree.SubElement(element, kind, {"message": _clean(message), "type": verdict}).text = _clean(details)
        ElementTree.SubElement(suite, "system-out").text = _clean("\n".join(details for *_, details in cases))
        ElementTree.SubElement(suite, "system-err").text = _clean("\n".join(report.notes))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


_Case = tuple[str, str, str, str, str]
"""Name, element ("" for a pass), verdict, message and details."""


def _findings(report: GateReport, system: str) -> Iterator[_Case]:
    for finding in report.findings:
        if finding.system == system:
            kind = "failure" if report.fails(finding) else ""
            yield finding.name, kind, finding.verdict, finding.why, "\n".join(lines(finding))


def _bars(report: GateReport, system: str) -> Iterator[_Case]:
    for bar in report.bars:
        if bar.system == system:
            kind = "failure" if bar.verdict is Verdict.REGRESSION else ""
            yield bar.name, kind, bar.verdict, bar_text(bar), f"{bar.name}: {bar_text(bar)}"


def _failures(report: GateReport, system: str) -> Iterator[_Case]:
    for failure in report.failures:
        if failure["system"] == system:
            yield "run", "error", "FAILED", failure["error"], failure_text(failure)


def _clean(text: str) -> str:
    return text.translate(_FORBIDDEN)
