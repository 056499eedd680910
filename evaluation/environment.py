"""What a number was measured with: code, packages, processor, threads, and how fast the machine was just then."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from time import perf_counter
from typing import Any

from ..retrieval.identity import PACKAGES
from ..retrieval.source import package_version


def environment() -> dict[str, Any]:
    """Return the part of a run's manifest that describes code and machine, JSON-ready."""
    return {
        "recallmeter": package_version("recallmeter"),
        "git": git_state(Path(__file__).resolve().parent),
        "packages": {name: found for name in PACKAGES if (found := package_version(name))},
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _processor(),
        "cores": cores(),
        "threads": {
            name: os.environ[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS") if name in os.environ
        },
    }


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> float:
    """Return how many processes wanted a processor over the last minute, this one included."""
    return round(os.getloadavg()[0], 2)


def git_state(folder: Path) -> dict[str, Any]:
    """Return the commit and whether tracked files differ from it; both None outside a checkout."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    commit = git("rev-parse", "HEAD")
    changes = git("status", "--porcelain", "--untracked-files=no") if commit else None
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def calibration_ms(rounds: int = 9) -> float:
    """Time a fixed piece of work, so that latencies of two machines can be compared as ratios.

    The work is what a search is made of: hashing strings into a dict, and sorting a list. The fastest of `rounds` counts.
    """

    def work() -> None:
        counts: dict[str, int] = {}
        for number in range(20_000):
            word = f"w{number * 7919 % 5003}"
            counts[word] = counts.get(word, 0) + 1
        sorted(counts, key=lambda word: (-counts[word], word))

    times = []
    for _ in range(rounds):
        began = perf_counter()
        work()
        times.append((perf_counter() - began) * 1e3)
    return min(times)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
