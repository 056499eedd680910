"""Peak memory and time of loading a JSONL file, beside that of its parsed lines in a list.

Run as ``python tests/benchmarks/bench_loading.py [MEGABYTES]``; 200 by default, in a temporary folder that is deleted.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recallmeter.datasets.formats.jsonl import write_jsonl
from recallmeter.datasets.model import Observation

LOADERS = {
    "json.loads of every line, in a list": "import json; kept = [json.loads(line) for line in open(folder + '/observations.jsonl', 'rb')]",
    "load_jsonl": "from recallmeter.datasets.formats.jsonl import load_jsonl; kept = load_jsonl(folder)",
}
KINDS = {"short records": (25, 0.0), "long records": (200, 0.0), "long records with typographic quotes": (200, 0.02)}
MEASURE = "\nimport resource; r = resource.getrusage(resource.RUSAGE_SELF); print(r.ru_maxrss * 1024, r.ru_utime + r.ru_stime)"


def main() -> None:
    """Print peak memory as a ratio of the file's size, and seconds of processor time."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for kind, (words, quoted) in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            write_jsonl(Path(folder), "generated", _observations(megabytes * 1_000_000, words, quoted), ())
            size = (Path(folder) / "observations.jsonl").stat().st_size
            print(f"{kind}, {size / 1e6:.0f} MB")
            for name, code in LOADERS.items():
                done = subprocess.run(
                    [sys.executable, "-c", f"import sys; folder = sys.argv[1]; {code}{MEASURE}", folder],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                peak, seconds = map(float, done.stdout.split())
                print(f"  {name:<36} peak memory {peak / size:.2f} × the file, {seconds:.1f} s")


def _observations(size: int, words: int, quoted: float) -> Iterator[Observation]:
    chance = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(chance.choices(letters, k=chance.randint(3, 10))) for _ in range(20_000)]
    vocabulary += ["“quoted”"] * round(quoted * len(vocabulary))

    def text(count: int) -> str:
        return " ".join(chance.choices(vocabulary, k=count))

    number = written = 0
    while written < size:
        observation = Observation(
            id=f"obs_{number:08d}",
            session_id=f"ses_{number // 8:07d}",
            timestamp=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
            type="decision",
            title=text(5),
            subtitle=text(2),
            narrative=text(words),
            facts=(text(5), text(5), text(5)),
            concepts=tuple(chance.choices(vocabulary, k=4)),
            files=tuple(chance.choices(vocabulary, k=2)),
        )
        written += 400 + 8 * words
        number += 1
        yield observation


if __name__ == "__main__":
    main()
