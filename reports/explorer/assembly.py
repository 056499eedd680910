"""The explorer: one HTML file, readable offline, in which a person sees why a system won or lost.

Everything that it shows comes from the summaries, comparisons and verdicts that the other reports are made of; the browser arranges
and draws it, and computes no statistic of its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import Any

from ...datasets.errors import InputError
from ...evaluation.judging.baseline import baseline_of
from ...evaluation.judging.compare import Comparison, Difference, Results, compare, pair, results_of
from ...evaluation.judging.gate import gate
from ...evaluation.judging.rules import Rules
from ...evaluation.measures.contract import CONTRACT, RULES
from ...evaluation.measures.numbers import as_fractions, is_share
from ...evaluation.record import Run
from ...evaluation.sweeps.points import Point
from ...retrieval.arms.knowledge import KINDS
from .. import gate as gate_report
from ..table import HEADLINE
from .run import run_model
from .sweep import sweep_model

PARTS = Path(__file__).with_name("page")
SCRIPTS = (
    *("numbers", "elements", "charts", "model", "address", "export", "marks", "overview", "queries", "query", "columns", "observation"),
    *("compare", "sweep", "parallel", "dataset", "start"),
)
"""The parts of the script, in the order in which they are joined."""

ALL_RUNS = 4
"""Of so many runs each is held against each other one; of more, each against the first."""

ALL_PAIRS = 16
"""Of so many systems each is held against each other one; of more, each against the best."""


def explorer(runs: Sequence[Run], sweeps: Mapping[Path, Sequence[Point]], rules: Rules) -> str:
    """Return the whole HTML document.

    Args:
        runs: the first is the one that the others are held against.
        sweeps: folder → points.
        rules: of the gate between runs.
    """
    labels = _labels([run.path for run in runs])
    measures = {measure for run in runs for measure in run.measures} | {m for points in sweeps.values() for p in points for m in p.measures}
    model = {
        "runs": [run_model(run, label) for run, label in zip(runs, labels, strict=True)],
        "comparisons": [*_within(runs, labels), *_between(runs, labels)],
        "gates": list(_gates(runs, labels, rules)),
        "sweeps": [sweep_model(name, points) for name, points in zip(_labels(list(sweeps)), sweeps.values(), strict=True)],
        "headline": HEADLINE,
        "fraction": as_fractions(),
        "counts": sorted(measure for measure in measures if not is_share(measure)),
        "contract": [list(entry) for entry in CONTRACT],
        "rules": [list(rule) for rule in RULES],
        "kinds": KINDS,
    }
    return _document(model)


def _document(model: Mapping[str, Any]) -> str:
    """Put style, script and data into the template; the policy lets nothing but these two run, and nothing be fetched.

    Images may be data of the page itself, which is how a figure becomes a PNG.
    """
    style = (PARTS / "style.css").read_text(encoding="utf-8")
    script = "\n".join(["(() => {", '"use strict";', *((PARTS / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS), "})();"])
    data = json.dumps(model, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    parts = {
        "policy": f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "data": data.replace("<", "\\u003c"),  # no text of a data set can end the element that it stands in
    }
    template = (PARTS / "template.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _labels(folders: Sequence[Path]) -> list[str]:
    """Name each by its folder alone; the second of a name gets a number."""
    seen: Counter[str] = Counter()
    labels = []
    for folder in folders:
        name = folder.resolve().name
        seen[name] += 1
        labels.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return labels


def _within(runs: Sequence[Run], labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Compare the systems of each run; overall alone, since the categories of that many pairs would only give false alarms."""
    for run, label in zip(runs, labels, strict=True):
        if not run.summary["answerable"]:
            continue
        results = {name: _without_categories(results_of(run, name)) for name in run.systems}
        pairs = list(combinations(run.systems, 2))
        if len(run.systems) > ALL_PAIRS:
            best = max(run.systems, key=lambda name: run.summary["systems"][name]["measures"][_measures(run)[0]]["mean"])
            pairs = [(best, name) for name in run.systems if name != best]
        for before, after in pairs:
            (comparison,) = compare([pair(results[before], results[after])], _measures(run))
            yield _comparison((label, before), (label, after), comparison)


def _between(runs: Sequence[Run], labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Compare runs with one another, system by system of the same name; of many runs each with the first alone."""
    named = list(zip(runs, labels, strict=True))
    pairs = combinations(named, 2) if len(runs) <= ALL_RUNS else ((named[0], later) for later in named[1:])
    for (first, first_label), (run, label) in pairs:
        for name in (name for name in first.systems if name in run.systems):
            sides = (first_label, name), (label, name)
            try:
                measures = [measure for measure in _measures(first) if measure in run.measures]
                (comparison,) = compare([pair(results_of(first, name), results_of(run, name))], measures)
            except InputError as error:
                yield {"a": sides[0], "b": sides[1], "error": str(error)}
            else:
                yield _comparison(*sides, comparison)


def _gates(runs: Sequence[Run], labels: Sequence[str], rules: Rules) -> Iterator[dict[str, Any]]:
    """Hold each later run against the first."""
    for run, label in zip(runs[1:], labels[1:], strict=True):
        try:
            report = gate(run, baseline_of(runs[0]), rules, where=labels[0])
        except InputError as error:
            yield {"baseline": labels[0], "run": label, "error": str(error)}
            continue
        yield {
            "baseline": labels[0],
            "run": label,
            "verdict": "FAILED" if report.failures else str(report.verdict),
            "headline": gate_report.headline(report),
            "rows": gate_report.rows(report),
            "why": [f"{finding.system} {finding.name}: {finding.why}" for finding in report.findings],
            "notes": list(report.notes),
        }


def _measures(run: Run) -> list[str]:
    return [measure for measure in HEADLINE if measure in run.measures] or list(run.measures)


def _without_categories(results: Results) -> Results:
    return replace(results, categories=dict.fromkeys(results.queries, ""))


def _comparison(before: tuple[str, str], after: tuple[str, str], comparison: Comparison) -> dict[str, Any]:
    rows = [_difference(row) for row in (*comparison.overall, *comparison.by_category)]
    return {"a": before, "b": after, "rows": rows}


def _difference(row: Difference) -> list[Any]:
    """Return a row in the order in which model.js names its columns."""
    spread = row.interval.low, row.interval.high
    counts = row.wins, row.ties, row.losses
    cells = [row.measure, row.category, row.n, row.before, row.after, row.mean, *spread, row.p, row.adjusted, *counts, row.detectable]
    return [None if isinstance(cell, float) and not isfinite(cell) else cell for cell in cells]
