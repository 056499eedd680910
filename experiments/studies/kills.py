"""Commands killed at random moments: is anything left that looks complete and is not, and is what was done kept?

    python -m recallmeter.experiments.studies.kills [-n 20] [--seed 0] [--only COMMAND]

Each of `run`, `sweep`, `report` and `baseline` is started over a small data set, sent SIGKILL, SIGTERM or SIGINT at a moment drawn from
the time that it takes, and looked at. Then the same line is called again, undisturbed. What is counted: *torn*, a result that is there
and not as an undisturbed call writes it; *empty*, an empty folder in its place; *left*, hidden remains that are still there after the
second call; *lost*, a point that was complete and had to be run again; *stuck*, a second call that fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ...datasets.errors import InputError
from ...evaluation.judging.baseline import read_baseline
from ...evaluation.record import load_run
from ...evaluation.sweeps.points import read_point
from ...reports.table import markdown
from .fuzz import write_data

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
FAULTS = ("torn", "empty", "left", "lost", "stuck")
PATIENCE = 120

_DATA = ("dataset=jsonl", "dataset.path=d", "measures=[recall@5,mrr]", "protocol.repeats=1", "protocol.warm_up=0")


class Victim(NamedTuple):
    """A command: its words, where its result lies, and what raises `InputError` or `AssertionError` unless that is whole."""

    words: tuple[str, ...]
    result: str
    check: Callable[[Path], object]


def victims(reference: Path) -> dict[str, Victim]:
    """Return what is killed; reports are held against the one that lies in `reference`."""

    def whole(folder: Path) -> None:
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")):
            same = reference / path.relative_to(folder)
            assert path.suffix != ".md" or path.read_bytes() == same.read_bytes(), f"{path} is another than {same}"
            assert path.stat().st_size, f"{path} is empty"

    def points(folder: Path) -> None:
        for path in folder.glob("*/point.json"):
            read_point(path.parent)

    grid = "systems.bm25.arms.bm25.k1=0.5,0.8,1.1,1.4,1.7,2.0"
    return {
        "run": Victim(("run", "system=[bm25,grep]", *_DATA, "hydra.run.dir=out"), "out", load_run),
        "sweep": Victim(("sweep", "system=bm25", *_DATA, grid, "name=w"), "multirun/w", points),
        "report": Victim(("report", "ran", "-o", "pages/report.md"), "pages", whole),
        "baseline": Victim(("baseline", "ran", "-o", "b.json"), "b.json", read_baseline),
    }


def study(moments: int, seed: int = 0, only: Sequence[str] = (), signals: Sequence[signal.Signals] = SIGNALS) -> list[list[str]]:
    """Kill each command so many times by each signal; return the table, its head first."""
    rows = [["command", "signal", "moments", "result there", "points kept", *FAULTS]]
    with TemporaryDirectory() as place:
        folder = Path(place)
        write_data(folder)
        _call(folder, "run", "system=[bm25,grep]", *_DATA, "hydra.run.dir=ran")
        _call(folder, "report", "ran", "-o", "reference/report.md")
        for name, victim in victims(folder / "reference").items():
            if only and name not in only:
                continue
            _clear(folder, victim)
            began = time.monotonic()
            _call(folder, *victim.words)
            took = time.monotonic() - began
            for number in signals:
                chance, seen = Random(f"{seed} {name} {number}"), Counter[str]()
                for _ in range(moments):
                    _clear(folder, victim)
                    _kill(folder, victim, number, chance.uniform(0, 1.05 * took), seen)
                cells = [str(seen[fault]) for fault in FAULTS]
                rows.append([name, number.name, str(moments), str(seen["there"]), str(seen["kept"]) if name == "sweep" else "–", *cells])
    return rows


def _kill(folder: Path, victim: Victim, number: signal.Signals, moment: float, seen: Counter[str]) -> None:
    command = [sys.executable, "-m", "recallmeter", *victim.words]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, restore_signals=True
    )
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        process.wait(PATIENCE)
    result = folder / victim.result
    seen["there"] += result.exists()
    seen["empty"] += result.is_dir() and not any(result.iterdir())
    seen["torn"] += _torn(victim, result)
    done = {path.parent.name: path.stat().st_mtime_ns for path in result.glob("*/point.json")}
    seen["kept"] += len(done)
    if victim.words[0] in ("run", "baseline") and result.exists():
        return  # it had ended, and is refused a second time
    seen["stuck"] += bool(_call(folder, *victim.words, check=False))
    seen["lost"] += sum((result / point / "point.json").stat().st_mtime_ns != when for point, when in done.items())
    seen["left"] += any(".partial-" in path.name or path.name.startswith(".session-") for path in folder.rglob(".*"))


def _torn(victim: Victim, result: Path) -> bool:
    if not result.exists() or (result.is_dir() and not any(result.iterdir())):
        return False
    try:
        victim.check(result)
    except (InputError, AssertionError) as error:
        print(f"{victim.words[0]}: {error}", file=sys.stderr)
        return True
    return False


def _clear(folder: Path, victim: Victim) -> None:
    for path in (folder / victim.result, *folder.rglob(".*.partial-*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _call(folder: Path, *words: str, check: bool = True) -> int:
    done = subprocess.run([sys.executable, "-m", "recallmeter", *words], cwd=folder, capture_output=True, text=True, env=dict(os.environ))
    if check and done.returncode:
        raise AssertionError(f"{' '.join(words)}: {done.stderr}")
    return done.returncode


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; 1 if there is any fault."""
    parser = argparse.ArgumentParser(prog="python -m recallmeter.experiments.studies.kills", description=str(__doc__).partition("\n")[0])
    parser.add_argument("-n", "--moments", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], metavar="COMMAND")
    arguments = parser.parse_args(sys.argv[1:] if argv is None else argv)
    table = study(arguments.moments, arguments.seed, arguments.only)
    print(markdown(table, left=(0, 1)))
    return int(any(cell != "0" for row in table[1:] for cell in row[-len(FAULTS) :]))


if __name__ == "__main__":
    sys.exit(main())
