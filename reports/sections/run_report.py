"""The report of a run: the verdict first, then one table and its figure, then why, at what cost, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ...evaluation.judging.compare import Difference
from ...evaluation.record import Run
from ..document import Document, Paragraph, plain
from ..standing import Standing, verdict
from . import categories, contrast, cost, faults, mechanics, provenance, quality, reproduce, steps

SECTIONS = (
    quality.head_to_head,
    faults.failures,
    faults.notices,
    steps.steps,
    contrast.wins,
    categories.by_category,
    cost.tokens,
    cost.time,
    reproduce.use,
    reproduce.again,
    reproduce.settings,
    reproduce.recommended,
    quality.everything,
    contrast.queries,
    steps.tests,
    mechanics.arms,
    mechanics.readings,
    faults.notes,
    cost.spans,
    mechanics.embedding,
    provenance.contract,
    provenance.dataset,
    provenance.environment,
)
"""What a report is made of, in its order; each returns its section, or None where a run has nothing for it."""


def run_report(run: Run) -> Document:
    """Return the report of a run, which `reports.formats` writes down."""
    standing = Standing.of(run)
    title = (run.config.get("report") or {}).get("title") or f"Retrieval on {run.manifest['dataset']['name']}"
    sections = [found for section in SECTIONS if (found := section(run, standing))]
    return Document(title, [Paragraph(line) for line in verdict(run, standing)], sections, _numbers(run, standing))


def _numbers(run: Run, standing: Standing) -> dict[str, Any]:
    """Return what the report says as values, shares as fractions, for programs."""
    return {
        "verdict": {
            "lines": [plain(line) for line in verdict(run, standing)],
            "measure": standing.measure,
            "n": standing.n,
            "best": standing.best if standing.n else None,
            "tied": list(standing.tied) if standing.n else [],
            "not_separable": list(standing.even),
            "beaten": list(standing.beaten),
            "recommended": standing.recommended,
        },
        "leads": _differences(standing.leads),
        "steps": [
            {"title": step.title, "from": step.before, "to": step.after, "differences": _differences(step.differences)}
            for step in standing.steps
        ],
        "systems": run.summary["systems"],
        "ceilings": run.summary["ceilings"],
        "manifest": {name: value for name, value in run.manifest.items() if name != "files"},
    }


def _differences(found: Mapping[str, Difference]) -> dict[str, Any]:
    return {name: {**asdict(row), "interval": row.interval._asdict()} for name, row in found.items()}
