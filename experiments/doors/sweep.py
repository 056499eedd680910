"""`recallmeter sweep`: many configurations on Hydra's multirun, each run once and kept; a second call runs what is missing."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from ...datasets.errors import InputError
from ...datasets.file import locked, remove_abandoned, write_file
from ...datasets.secrets import redacted_message, redacted_settings
from ...evaluation.exit_code import ExitCode
from ..paths import printed

if TYPE_CHECKING:
    from omegaconf import DictConfig
    from tqdm import tqdm

    from ..composition import Sweep

Form = Literal["table", "path", "json"]
TAKES_OVERRIDES = True
SINGLE = ("protocol.repeats=1", "protocol.warm_up=0")
"""A sweep asks every question once unless told otherwise."""

LOG, SHOWN = "points.jsonl", 3
"""Where points report to, and how many that failed alike are named."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door; everything else on its command line is Hydra's."""
    parser.usage = "recallmeter sweep [--retry-failed | --only-failed] [--json | -q] [--config-dir DIR] OVERRIDE …"
    parser.epilog = (
        "an OVERRIDE with several values spans the sweep: systems.dual.fusion.weights.bm25=0.3,0.5  dataset.seed=range(0,5).  "
        "Points go to multirun/<name>, or hydra.sweep.dir=DIR; hydra/launcher=joblib|ray|submitit_slurm runs them elsewhere; "
        "hydra/sweeper=optuna searches instead of spanning."
    )
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--retry-failed", action="store_true", help="run points again that failed before, besides the missing ones")
    again.add_argument("--only-failed", action="store_true", help="run points again that failed before, and nothing else")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print the folder and what became of every point as JSON")
    shown.add_argument("-q", "--quiet", action="store_true", help="print the folder and nothing else")


def execute(arguments: argparse.Namespace) -> int:
    """Run the sweep; return 0, or 4 when a point failed."""
    form = "json" if arguments.json else "path" if arguments.quiet else "table"
    return run_sweep(arguments.overrides, retry_failed=arguments.retry_failed, only_failed=arguments.only_failed, form=form)


def run_sweep(overrides: Sequence[str], *, retry_failed: bool = False, only_failed: bool = False, form: Form = "table") -> int:
    """Run what is missing of the sweep that `overrides` span, and tell what became of it; return 0, or 4 when a point failed."""
    from ..composition import multirun

    session = f"s{uuid4().hex[:12]}"  # digits alone would be read as a number
    single = [o for o in SINGLE if not any(given.startswith(o.partition("=")[0]) for given in overrides)]
    steering = {"session": session, "retry_failed": retry_failed, "only_failed": only_failed}
    line = [*overrides, *single]
    with Watcher(session, line) as watcher:
        try:
            multirun(
                sweep_point, [*line, *(f"+sweep.{key}={value}" for key, value in steering.items())], command="sweep", begin=watcher.begin
            )
        except InputError:
            raise
        except Exception as error:  # a launcher may raise anything when its processes are killed
            watcher.broke_off = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return watcher.conclude(form)


def sweep_point(config: DictConfig) -> Any:
    """Run one point wherever the launcher put it; return its objectives, which a searching sweeper asks for.

    Nothing is raised: Hydra would tell it in words of its own.
    """
    from hydra.core.hydra_config import HydraConfig

    from ...evaluation.sweeps.holdout import shown
    from ...reports.table import told_notices
    from ..chosen import chosen_notices
    from ..composition import find_plug_ins, leave_unchosen, parameters, plain, stored
    from ..sweeping.reuse import run_point

    hydra = HydraConfig.get()
    find_plug_ins()
    leave_unchosen(config)
    settings, folder = plain(config), Path(hydra.runtime.cwd, hydra.sweep.dir)
    sweep = settings["sweep"]
    _redact(folder / "multirun.yaml")
    log, line = folder / f".session-{sweep['session']}" / LOG, {"job": hydra.job.num, "parameters": parameters()}
    _report(log, {**line, "status": "began"})
    objectives = [float("nan")] * len(sweep["objectives"])
    try:
        notices = [notice._asdict() for notice in chosen_notices(config)]
        outcome = run_point(settings, line["parameters"], folder, retry_failed=sweep["retry_failed"], only_failed=sweep["only_failed"])
        point, line = outcome.point, {**line, "status": outcome.status, "seconds": outcome.seconds, "error": outcome.point.error}
        if point.status == "complete":
            kept = {name: value for name, value in stored(config).items() if name != "sweep"}
            line |= {"key": point.key, "settings": kept, "unknown": point.manifest["unknown"]}
            line["notices"] = told_notices({"notices": [*notices, *point.manifest.get("notices", ())]})
            system = sweep["system"] or point.systems[0]
            # a grid may measure something else than what a search would be told
            measured = system in point.systems and set(sweep["objectives"]) <= {*point.measures, "tokens"}
            if measured and sweep["objectives"]:
                (seen,) = shown([point], folder)
                objectives = [seen.mean(system, name) for name in sweep["objectives"]]
                line["best"] = objectives[0]
    except InputError as error:
        line = {**line, "status": "failed", "seconds": 0.0, "error": str(error)}
    _report(log, line)
    return objectives[0] if len(objectives) == 1 else tuple(objectives)


def _redact(path: Path) -> None:
    """Write Hydra's own record of the call again, should a secret stand in it."""
    import yaml

    with suppress(OSError, ValueError, yaml.YAMLError):  # whatever it is, it is no result
        text = path.read_text(encoding="utf-8")
        if redacted_message(text) != text:
            write_file(path, yaml.safe_dump(redacted_settings(yaml.safe_load(text)), allow_unicode=True, sort_keys=False))


def _report(log: Path, line: dict[str, Any]) -> None:
    """Append what became of a point to the session's log; one short write, so that processes don't mix their lines."""
    text = redacted_message(json.dumps(line, default=str)).encode() + b"\n"
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            whole = os.write(descriptor, text) == len(text)
        finally:
            os.close(descriptor)
    except OSError:
        whole = False
    if not whole:  # a full disk; the process that watches may be this one
        from ..sweeping.reuse import WORKER

        WORKER.unreported.append(line)


class Watcher:
    """Follows a sweep from the process that started it, whichever processes or machines its points run on."""

    def __init__(self, session: str, line: Sequence[str]) -> None:
        self.session, self.line = session, line
        self.broke_off = ""
        self._sweep: Sweep | None = None
        self._standing = False
        self._seen = 0
        self._lock: int | None = None
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._bar: tqdm[Any] | None = None
        self._began: dict[int, dict[str, Any]] = {}
        self._ended: dict[int, dict[str, Any]] = {}

    def begin(self, sweep: Sweep) -> bool:
        """Start to show progress, unless all points stand from an earlier call; return whether anything has to run."""
        from tqdm import tqdm

        from ...evaluation.sweeps.holdout import hold_back
        from ..sweeping.finished import standing
        from ..sweeping.reuse import WORKER

        if sweep.searched:
            _check_objectives(sweep.first)
        hold_back(sweep.folder, sweep.first.sweep.get("holdout"))
        self._sweep, self._standing = sweep, not sweep.searched and standing(sweep.folder, self.line, sweep.first)
        if not self._standing:
            _remove_sessions(sweep.folder)
            remove_abandoned(sweep.folder)
            self._hidden.mkdir(parents=True)
            self._lock = locked(self._hidden)
            WORKER.unreported.clear()
            # made here and not in the thread: while one thread makes a bar another must not
            self._bar = tqdm(total=sweep.points, desc="sweep", unit="point", disable=None)
            self._thread = threading.Thread(target=self._show, args=(self._bar,), daemon=True)
            self._thread.start()
        return not self._standing

    @property
    def sweep(self) -> Sweep:
        """What is followed, as soon as that is known."""
        assert self._sweep is not None
        return self._sweep

    @property
    def _hidden(self) -> Path:
        return self.sweep.folder / f".session-{self.session}"

    def _show(self, bar: tqdm[Any]) -> None:
        over = False
        while not over:
            over = self._over.wait(0.2)
            self._read()
            best = max((line["best"] for line in self._ended.values() if "best" in line), default=None)
            if best is not None:
                bar.set_postfix_str(f"best {best:.4f}", refresh=False)
            bar.update(len(self._ended) - bar.n)

    def _read(self) -> None:
        try:
            with (self._hidden / LOG).open("rb") as log:
                log.seek(self._seen)
                text = log.read()
        except FileNotFoundError:  # no point has begun
            return
        whole = text[: text.rfind(b"\n") + 1]
        self._seen += len(whole)
        for line in whole.splitlines():
            try:
                self._take(json.loads(line))
            except ValueError:  # torn by a full disk
                continue

    def _take(self, line: dict[str, Any]) -> None:
        (self._began if line["status"] == "began" else self._ended)[line["job"]] = line

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        if self._thread is not None and self._bar is not None:
            self._thread.join()
            self._bar.close()
            shutil.rmtree(self._hidden, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)

    def conclude(self, form: Form = "table") -> int:
        """Print what became of the points and where they are, and write the table of all; return the exit code."""
        from ...evaluation.sweeps.table import write_table
        from ..sweeping.finished import remember
        from ..sweeping.reuse import WORKER

        sweep = self.sweep
        if self._standing:
            _tell(form, sweep.folder, {"ran": 0, "reused": sweep.points, "failed": 0}, "")
            return 0
        for line in WORKER.unreported:
            self._take(line)
        counts = Counter(line["status"] for line in self._ended.values())
        failures: dict[str, list[str]] = defaultdict(list)
        for line in self._ended.values():
            if line["status"] in ("failed", "left"):
                failures[line["error"]].append(_written(line["parameters"]))
        for error, points in failures.items():
            more = f" and {len(points) - SHOWN} more" if len(points) > SHOWN else ""
            print(f"FAILED {', '.join(points[:SHOWN])}{more}: {error}", file=sys.stderr)
        if counts["left"]:
            print(f"{counts['left']} points were not tried again; --retry-failed runs those that failed before", file=sys.stderr)
        for job in sorted(self._began.keys() - self._ended.keys()):
            parameters = _written(self._began[job]["parameters"])
            print(f"LOST {parameters}: its process ended first; it was killed, or out of memory", file=sys.stderr)
        missing = sweep.points - len(self._ended)
        if self.broke_off:
            print(f"the launcher broke off ({self.broke_off})", file=sys.stderr)
        if missing:
            print(f"{missing} points are missing; the same line runs them, and nothing that is done", file=sys.stderr)
        seconds = sum(line["seconds"] for line in self._ended.values())
        became = {"ran": counts["ran"], "reused": counts["reused"], "failed": counts["failed"] + counts["left"]}
        _tell(form, sweep.folder, became, f"; {seconds:.1f} s of work", self._ended.values())
        for told in dict.fromkeys(told for line in self._ended.values() for told in line.get("notices", ())):
            print(told, file=sys.stderr)
        unknown = sorted({told for line in self._ended.values() for told in line.get("unknown", ())})
        for told in unknown:
            stream = sys.stdout if form == "table" else sys.stderr
            print(f"measured every time: {told}; give it `version: …` in its YAML to reuse what it answered", file=stream)
        done = counts["ran"] + counts["reused"]
        if done:
            write_table(sweep.folder)
        if done == sweep.points and not sweep.searched and not unknown:
            remember(sweep.folder, self.line, sweep.first, list(self._ended.values()))
        return 0 if done == sweep.points else ExitCode.FAILED


def _tell(form: Form, folder: Path, became: Mapping[str, int], work: str, points: Iterable[Mapping[str, Any]] = ()) -> None:
    """Print what became of the points, and where they are."""
    if form == "json":
        kept = [{key: line[key] for key in ("parameters", "status", "key", "best", "error", "seconds") if line.get(key)} for line in points]
        print(json.dumps({"folder": printed(folder), **became, "points": kept}, indent=1, default=str, ensure_ascii=False))
        return
    if form == "table":
        print(f"{', '.join(f'{count} {what}' for what, count in became.items())}{work}")
    print(printed(folder))


def _check_objectives(config: DictConfig) -> None:
    """Refuse a search for the best of what is not measured."""
    for objective in config.sweep.objectives:
        if objective not in (*config.measures, "tokens"):
            remedy = f"name some of {', '.join(map(str, config.measures))}, tokens"
            raise InputError(f"{objective} is not measured", where="sweep.objectives", remedy=remedy)


def _remove_sessions(folder: Path) -> None:
    """Remove the sessions of calls that were killed."""
    for session in folder.glob(".session-*"):
        if (lock := locked(session)) is not None:
            shutil.rmtree(session, ignore_errors=True)
            os.close(lock)


def _written(parameters: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())
