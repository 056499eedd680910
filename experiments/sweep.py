"""`recallmeter sweep`: many configurations on Hydra's multirun, each run once and kept; a second call runs what is missing."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ..datasets.errors import InputError

if TYPE_CHECKING:
    from omegaconf import DictConfig

TAKES_OVERRIDES = True
EXIT_FAILED = 4
SINGLE = ("protocol.repeats=1", "protocol.warm_up=0")
"""A sweep asks every question once unless told otherwise."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door; everything else on its command line is Hydra's."""
    parser.usage = "recallmeter sweep [--retry-failed | --only-failed] [--config-dir DIR] OVERRIDE …"
    parser.epilog = (
        "an OVERRIDE with several values spans the sweep: systems.dual.fusion.k=20,60  dataset.seed=range(0,5).  "
        "Points go to multirun/<name>, or hydra.sweep.dir=DIR; hydra/launcher=joblib|ray|submitit_slurm runs them elsewhere; "
        "hydra/sweeper=optuna searches instead of spanning."
    )
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--retry-failed", action="store_true", help="run points again that failed before, besides the missing ones")
    again.add_argument("--only-failed", action="store_true", help="run points again that failed before, and nothing else")


def execute(arguments: argparse.Namespace) -> int:
    """Run the sweep; return 0, or 4 when a point failed."""
    from .composition import multirun

    session = uuid4().hex[:12]
    extra = [o for o in SINGLE if not any(given.startswith(o.partition("=")[0]) for given in arguments.overrides)]
    extra += [f"+sweep.session={session}", f"+sweep.retry_failed={arguments.retry_failed}", f"+sweep.only_failed={arguments.only_failed}"]
    with Watcher(session) as watcher:
        folder = multirun(sweep_point, [*arguments.overrides, *extra], command="sweep", announce=watcher.follow)
    return watcher.told(folder)


def sweep_point(config: DictConfig) -> Any:
    """Run one point wherever the launcher put it; return its objectives, which a searching sweeper asks for."""
    from hydra.core.hydra_config import HydraConfig

    from .composition import find_plug_ins, parameters, plain
    from .points import run_point

    hydra = HydraConfig.get()
    find_plug_ins()
    settings, folder = plain(config), Path(hydra.runtime.cwd, hydra.sweep.dir)
    sweep = settings["sweep"]
    outcome = run_point(settings, parameters(), folder, retry_failed=sweep["retry_failed"], only_failed=sweep["only_failed"])
    point, system = outcome.point, sweep["system"] or next(iter(outcome.point.systems), "")
    objectives = [point.mean(system, name) for name in sweep["objectives"]] if point.status == "complete" else []
    line = {
        "status": outcome.status,
        "seconds": outcome.seconds,
        "key": point.key,
        "error": point.error,
        "parameters": dict(point.parameters),
    }
    _report(folder, sweep["session"], {**line, "best": objectives[0] if objectives else None})
    if not objectives:
        return float("nan") if len(sweep["objectives"]) == 1 else tuple(float("nan") for _ in sweep["objectives"])
    return objectives[0] if len(objectives) == 1 else tuple(objectives)


def _report(folder: Path, session: str, line: dict[str, Any]) -> None:
    """Append what became of a point to the session's log; one short write, so that processes don't mix their lines."""
    descriptor = os.open(folder / f".session-{session}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(descriptor, json.dumps(line, default=str).encode() + b"\n")
    finally:
        os.close(descriptor)


class Watcher:
    """Follows a sweep from the process that started it, whichever processes or machines its points run on."""

    def __init__(self, session: str) -> None:
        self.session = session
        self._log: Path | None = None
        self._seen = 0
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self.lines: list[dict[str, Any]] = []

    def follow(self, folder: Path, total: int | None) -> None:
        """Start to show progress; `total` points are expected, if that is known."""
        self._log = folder / f".session-{self.session}.jsonl"
        self._thread = threading.Thread(target=self._show, args=(total,), daemon=True)
        self._thread.start()

    def _show(self, total: int | None) -> None:
        from tqdm import tqdm

        with tqdm(total=total, desc="sweep", unit="point", disable=None) as bar:
            while True:
                finished = self._done.wait(0.2)
                fresh = self._read()
                bar.update(len(fresh))
                best = max((line["best"] for line in self.lines if line["best"] is not None), default=None)
                if fresh and best is not None:
                    bar.set_postfix_str(f"best {best:.4f}")
                if finished:
                    return

    def _read(self) -> list[dict[str, Any]]:
        if self._log is None or not self._log.exists():
            return []
        text = self._log.read_text(encoding="utf-8")[self._seen :]
        whole = text[: text.rfind("\n") + 1]
        self._seen += len(whole)
        fresh = [json.loads(line) for line in whole.splitlines()]
        self.lines += fresh
        return fresh

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *raised: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._log is not None:
            self._log.unlink(missing_ok=True)
            shutil.rmtree(self._log.parent / ".jobs", ignore_errors=True)

    def told(self, folder: Path) -> int:
        """Print what became of the points and where they are; return the exit code."""
        counts = Counter(line["status"] for line in self.lines)
        if not self.lines:
            raise InputError("no point ran", where=str(folder), remedy="give at least one override with several values")
        for line in self.lines:
            if line["status"] in ("failed", "left"):
                parameters = " ".join(f"{key}={value}" for key, value in line["parameters"].items())
                print(f"FAILED {parameters or line['key'][:12]}: {line['error']}", file=sys.stderr)
        if counts["left"]:
            print(f"{counts['left']} points were not tried again; --retry-failed runs those that failed before", file=sys.stderr)
        seconds = sum(line["seconds"] for line in self.lines)
        print(f"{counts['ran']} ran, {counts['reused']} reused, {counts['failed'] + counts['left']} failed; {seconds:.1f} s of work")
        print(os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else folder)
        return EXIT_FAILED if counts["failed"] + counts["left"] else 0
