"""`recallmeter gate`: hold a run against a baseline, and let the exit code say what came of it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from ...datasets.errors import InputError
from ...datasets.file import write_file
from ...evaluation.exit_code import MEANING
from ...evaluation.judging.gate import GateReport, gate
from ...evaluation.record import load_run
from ...reports.gate import record, text
from ..rules import changed, load_baseline, packaged, rules_named

WRITES_SHARES = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("run", metavar="RUN", help="a run directory")
    parser.add_argument("--baseline", required=True, metavar="FILE", help="what `recallmeter baseline` wrote, or another run directory")
    parser.add_argument("--rules", default="default", metavar="NAME|FILE", help=f"{', '.join(packaged())} or a YAML file")
    parser.add_argument("-m", "--measure", action="append", metavar="MEASURE", help="judge this measure alone; repeat for more")
    parser.add_argument("--floor", action="append", metavar="MEASURE=PERCENT", help="the least mean of a measure; repeat for more")
    parser.add_argument("--max-drop", type=float, metavar="PP", help="the drop that is accepted, in percentage points, for every rule")
    parser.add_argument("--looks", type=int, metavar="N", help="spread alpha over N gates of one baseline (default 1)")
    parser.add_argument("--alpha", type=float, help="the chance that the gate says REGRESSION when nothing changed (default 0.05)")
    parser.add_argument(
        "--on-inconclusive", choices=("fail", "warn", "pass"), help="neither verdict reached; fail: exit 3; warn (default) and pass: exit 0"
    )
    parser.add_argument(
        "--on-shown-loss", choices=("fail", "warn", "pass"), help="a loss is shown, its size against max_drop is open (default fail)"
    )
    parser.add_argument("--system", action="append", metavar="NAME", help="judge this system alone; repeat for more")
    parser.add_argument("--p95-latency", type=float, metavar="RATIO", help="the most that p95 may be, in calibration loops of the run")
    parser.add_argument("--tokens", type=float, metavar="N", help="the most tokens a query may cost on average")
    parser.add_argument("--allow-different-queries", action="store_true", help="judge the queries that both have, and say how many")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    parser.add_argument("--github", action="store_true", help="print annotations, write the step summary and the output `verdict`")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.epilog = f"exit codes: {MEANING}"


def execute(arguments: argparse.Namespace) -> int:
    """Judge the run; return the exit code of the verdict."""
    rules = changed(
        rules_named(arguments.rules),
        max_drop=arguments.max_drop,
        measures=arguments.measure,
        floors=arguments.floor,
        alpha=arguments.alpha,
        looks=arguments.looks,
        on_inconclusive=arguments.on_inconclusive,
        on_shown_loss=arguments.on_shown_loss,
        systems=arguments.system,
        p95_latency=arguments.p95_latency,
        tokens=arguments.tokens,
    )
    run, baseline = load_run(arguments.run), load_baseline(arguments.baseline)
    report = gate(run, baseline, rules, where=arguments.baseline, allow_different=arguments.allow_different_queries)
    if arguments.junit:
        from ...reports.junit import junit

        write_file(Path(arguments.junit), junit(report, name=run.path.name, ended=run.manifest["ended"]), "the JUnit file")
    told = _tell_github(report) if arguments.github else ()
    print(json.dumps(record(report), indent=1, ensure_ascii=False) if arguments.json else text(report))
    for line in told:
        print(line, file=sys.stderr if arguments.json else sys.stdout)
    return report.exit_code


def _tell_github(report: GateReport) -> list[str]:
    """Write what GitHub Actions reads from files, and return the lines for its log; outside it the summary is among them."""
    from ...reports.github import summary, workflow_commands

    lines = list(workflow_commands(report))
    for variable, content in (("GITHUB_STEP_SUMMARY", summary(report)), ("GITHUB_OUTPUT", f"verdict={report.verdict}\n")):
        if path := os.environ.get(variable):
            try:
                with Path(path).open("a", encoding="utf-8") as file:
                    file.write(content)
            except OSError as error:
                raise InputError(f"can't be written ({error.strerror})", where=path, remedy=f"see the variable {variable}") from error
        elif variable == "GITHUB_STEP_SUMMARY":
            lines.append(content)
    return lines
