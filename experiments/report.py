"""`recallmeter report RUN`: what people read, made from a run directory."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("run", metavar="RUN", help="a run directory")
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="report.md", help="where the Markdown goes; its figures go into figures/ beside it"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Write the report and its figures; print the path."""
    from ..evaluation.record import load_run
    from ..reports import preset
    from ..reports.real_embeddings import write_report

    run, path = load_run(arguments.run), Path(arguments.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(preset.render(run) if "claim" in run.config else write_report(run, path), encoding="utf-8")
    os.replace(partial, path)
    print(path)
    return 0
