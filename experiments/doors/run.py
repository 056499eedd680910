"""`recallmeter run`: resolve the configuration, evaluate every system, write one run directory."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...datasets.errors import InputError
from ...evaluation.exit_code import ExitCode
from ..paths import printed

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from ...datasets.model import Dataset
    from ...evaluation.record import Run
    from ...retrieval.ranking import Retriever

Form = Literal["table", "path", "json"]
TAKES_OVERRIDES = True
WRITES_SHARES = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door; everything else on its command line is Hydra's."""
    parser.add_argument("--fresh", action="store_true", help="embed everything anew, so that indexing has a time too (fresh=true)")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print the run directory and every system's results as JSON")
    shown.add_argument("-q", "--quiet", action="store_true", help="print the run directory and nothing else")
    parser.usage = "recallmeter run [--fresh] [--json | -q] [--fraction] [--config-dir DIR] [--cfg job] [OVERRIDE …]"
    parser.epilog = (
        "OVERRIDE is Hydra's: system=[grep,dual]  dataset=beir dataset.path=DIR  systems.dual.fusion.weights.bm25=0.5  dataset.seed=7  "
        "experiment=NAME  hydra.run.dir=DIR.  The last line printed is the run directory."
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run once; return 0, or 4 when a system failed."""
    from ..composition import launch

    fresh = ["fresh=true"] if arguments.fresh else []
    job = partial(evaluate_config, form="json" if arguments.json else "path" if arguments.quiet else "table")
    return launch(job, [*arguments.overrides, *fresh], command="run")


def evaluate_config(config: DictConfig, folder: Path, *, form: Form = "table") -> int:
    """Evaluate one resolved configuration, write its run to `folder`, and print what came out.

    Args:
        form: ``table`` prints the table and, last, the run directory; ``path`` the directory alone; ``json`` one JSON object.
    """
    from ...reports import preset, waterfall
    from ...reports.gate import failure_text
    from ...reports.table import aligned, head_to_head, timing, told_notices
    from ...retrieval.telemetry import export_spans
    from ..composition import command_line

    if config.trace not in (None, "console", "otlp"):
        raise InputError(f"trace is {config.trace!r}", where="trace", remedy="use console, otlp or null")
    if config.trace == "otlp":
        export_spans()
    run = run_config(config, folder, command=command_line())
    if form == "table":
        print(aligned(head_to_head(run)), timing(run), sep="\n")
    if form == "table" and config.get("claim"):
        print("", preset.summary(run, preset.verdicts(run)).replace("**", ""), "", sep="\n")
    if form == "table" and config.trace == "console":
        print("", waterfall.slowest_queries(run), "", sep="\n")
    for line in waterfall.slow_searches(run):
        print(line, file=sys.stderr)
    for line in told_notices(run.manifest):
        print(line, file=sys.stderr)
    for failure in run.manifest["failures"]:
        print(f"FAILED {failure['system']}: {failure_text(failure)}", file=sys.stderr)
    print(json.dumps({"folder": printed(folder), **run.summary}, indent=1, ensure_ascii=False) if form == "json" else printed(folder))
    return ExitCode.FAILED if run.manifest["failures"] else ExitCode.PASS


def run_config(
    config: DictConfig,
    folder: Path,
    systems: Mapping[str, Retriever] | None = None,
    dataset: Dataset | None = None,
    *,
    command: Sequence[str] | None = None,
) -> Run:
    """Build what `config` names, evaluate it, write the run directory and load it.

    Args:
        systems: in place of those that `config` names.
        dataset: in place of the one that `config` names.
        command: the command line that asks for this run, so that the run can say how it is made again.
    """
    from omegaconf import OmegaConf

    from ...datasets.folder import check_free
    from ..api.measuring import described, record_run
    from ..chosen import chosen_notices
    from ..composition import plain, stored
    from ..measurement import build_dataset, build_systems

    check_free(folder)  # before anything is built
    if dataset is not None:
        OmegaConf.update(config, "dataset", described(dataset), merge=False, force_add=True)
    settings, notices = plain(config), chosen_notices(config)
    searched = dataset or build_dataset(settings)
    built = systems or build_systems(settings)
    return record_run(settings, searched, built, folder, kept=stored(config), command=command, notices=notices)
