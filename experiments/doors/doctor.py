"""`recallmeter doctor`: controls that must land on known values, and a second pass in disguise."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...datasets.errors import InputError
from ...evaluation.exit_code import ExitCode

if TYPE_CHECKING:
    from omegaconf import DictConfig

TAKES_OVERRIDES = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door; everything else on its command line is Hydra's."""
    parser.usage = "recallmeter doctor [--config-dir DIR] [OVERRIDE …]"
    parser.epilog = "OVERRIDE is Hydra's: dataset=beir dataset.path=DIR  system=[grep,bm25].  Exit code 1: a check failed."


def execute(arguments: argparse.Namespace) -> int:
    """Examine the data set and the systems that the configuration names; return 1 if a check fails."""
    from ..composition import launch

    return launch(_examine, ["hydra.run.dir=.", *arguments.overrides], command="doctor")


def _examine(config: DictConfig, _: Path) -> int:
    from ...evaluation.audits.doctor import CUTOFFS, examine
    from ...evaluation.loop import Protocol
    from ..composition import build, plain

    dataset = build(config.dataset, "dataset")
    if not any(query.answerable for query in dataset.queries):
        raise InputError("the data set has no answerable query", where=f"dataset {dataset.name}", remedy="see `recallmeter data check`")
    if config.k < max(CUTOFFS):
        raise InputError(f"k = {config.k} is too shallow to examine", where="k", remedy=f"give at least {max(CUTOFFS)}")
    systems = {name: partial(build, spec, f"systems.{name}") for name, spec in config.systems.items() if spec is not None}
    failed = 0
    for check in examine(dataset, systems, Protocol(k=config.k, **plain(config.protocol)), seed=config.seed):
        if check.passed:
            print(f"ok    {check.name}: {check.found}")
        else:
            failed += 1
            print(f"FAIL  {check.name}: {check.found} (expected {check.expected})\n      {check.remedy}")
    print(f"{failed} checks failed" if failed else "every check passed")
    return ExitCode.REGRESSION if failed else ExitCode.PASS
