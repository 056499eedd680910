from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest
from recallmeter.evaluation.sweeps.points import read_points
from recallmeter.experiments.cli import main
from recallmeter.experiments.sweeping import reuse as points_module
from recallmeter.retrieval import identity
from recallmeter.retrieval.arms.stored import CandidateStore
from recallmeter.retrieval.cache import Cache

GRID = ["system=bm25", "systems.bm25.arms.bm25.k1=0.6,1.2", "systems.bm25.arms.bm25.b=0.3,0.75", "name=grid"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    store = CandidateStore(Cache("candidates", tmp_path / "cache"))  # embeddings come from wherever they are kept
    monkeypatch.setattr(points_module, "WORKER", points_module.Worker(store))
    return tmp_path


def last_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.strip().splitlines()[-2:]


def without_times(folder: Path) -> dict[str, object]:
    """Return the content of every file of a sweep by name, times and machine facts left out."""
    found: dict[str, object] = {}
    for path in sorted(folder.glob("*/*")):
        if path.name == "point.json":
            record = json.loads(path.read_text())
            del record["latency"], record["digest"]
            for name in ("started", "ended", "seconds", "embedding", "embedded", "arm_searches", "load"):
                record["manifest"].pop(name, None)
            found[f"{path.parent.name}/{path.name}"] = record
        elif path.suffix:
            found[f"{path.parent.name}/{path.name}"] = path.read_bytes()
    return found


def test_each_point_runs_once_and_the_same_line_reuses_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *GRID]) == 0
    first = last_lines(capsys)
    assert first[0].startswith("4 ran, 0 reused, 0 failed")
    assert first[1] == "multirun/grid"
    before = {path: path.stat().st_mtime_ns for path in (here / "multirun").rglob("point.json")}
    table = (here / "multirun" / "grid" / "points.csv").read_bytes()
    assert main(["sweep", *GRID]) == 0
    assert last_lines(capsys)[0].startswith("0 ran, 4 reused, 0 failed")
    assert (here / "multirun" / "grid" / "points.csv").read_bytes() == table
    assert {path: path.stat().st_mtime_ns for path in (here / "multirun").rglob("point.json")} == before


def test_more_values_run_only_what_is_missing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *GRID]) == 0
    more = [o.replace("k1=0.6,1.2", "k1=0.6,1.2,2.0") for o in GRID]
    assert main(["sweep", *more]) == 0
    assert last_lines(capsys)[0].startswith("2 ran, 4 reused")


def test_the_table_of_all_points_is_what_pandas_reads(here: Path) -> None:
    import pandas as pd

    assert main(["sweep", *GRID]) == 0
    table = pd.read_csv(here / "multirun" / "grid" / "points.csv")
    points = {point.folder: point for point in read_points([here / "multirun" / "grid"])}
    grid = table[["systems.bm25.arms.bm25.k1", "systems.bm25.arms.bm25.b"]].to_numpy().tolist()
    assert sorted(grid) == [[0.6, 0.3], [0.6, 0.75], [1.2, 0.3], [1.2, 0.75]]
    assert grid == sorted(grid, key=lambda pair: pair[::-1]), "by the parameters in the order of their names"
    for row in table.to_dict("records"):
        point = points[row["point"]]
        assert row["recall@10"] == point.mean("bm25", "recall@10")
        assert (row["tokens"], row["p95_ms"]) == (point.tokens["bm25"], point.latency["bm25"]["p95"])


def test_a_finished_sweep_is_not_believed_when_something_changed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "conf" / "experiment").mkdir(parents=True)
    preset = here / "conf" / "experiment" / "own.yaml"
    preset.write_text("# @package _global_\nsystems: {bm25: {depth: 2}}\n")
    line = ["sweep", *GRID, "experiment=own", "--config-dir", "conf"]
    assert main(line) == 0
    preset.write_text("# @package _global_\nsystems: {bm25: {depth: 3}}\n")
    assert main(line) == 0
    preset.write_text("# @package _global_\n# as before\nsystems: {bm25: {depth: 3}}\n")
    assert main(line) == 0
    max((here / "multirun" / "grid").glob("*/values.npy"), key=lambda path: path.stat().st_mtime_ns).unlink()
    assert main(line) == 4
    shown = [line for line in capsys.readouterr().out.splitlines() if " ran, " in line]
    assert [line.partition(";")[0] for line in shown] == [
        "4 ran, 0 reused, 0 failed",
        "4 ran, 0 reused, 0 failed",
        "0 ran, 4 reused, 0 failed",
        "0 ran, 3 reused, 1 failed",
    ]


def test_values_equal_those_of_a_run(here: Path) -> None:
    from recallmeter.evaluation.record import load_run

    assert main(["sweep", "system=agentmemory_dual", "systems.agentmemory_dual.fusion.k=20,60", "dataset.seed=0", "name=fusion"]) == 0
    assert main(["run", "system=agentmemory_dual", "systems.agentmemory_dual.fusion.k=20", "hydra.run.dir=out"]) == 0
    run = load_run(here / "out")
    (point,) = [p for p in read_points([here / "multirun" / "fusion"]) if p.parameters["systems.agentmemory_dual.fusion.k"] == 20]
    rows = {row["query"]: row for row in run.per_query}
    for position, measure in enumerate(point.measures):
        assert point.values[0, position].tolist() == [rows[query][measure] for query in point.queries]


def test_points_that_differ_downstream_ask_no_arm_again(here: Path) -> None:
    assert main(["sweep", "system=bm25", "+systems.bm25.fusion.k=1,2", "+systems.bm25.fusion._target_=recallmeter.WeightedRRF"]) == 0
    asked = sorted(p.manifest["arm_searches"] for p in read_points([here / "multirun" / "run"]))
    assert asked[0] == 0
    assert asked[1] > 100


def test_changed_code_never_reuses_a_point(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["sweep", *GRID]) == 0
    monkeypatch.setattr(identity, "code_version", lambda: "changed")
    assert main(["sweep", *GRID]) == 0
    assert last_lines(capsys)[0].startswith("4 ran, 0 reused")


FLAKY = """
import os
from contextlib import suppress

class Flaky:
    def __init__(self, n):
        self.n = n

    def index(self, observations):
        if self.n == 2 and not os.environ.get("MENDED"):
            raise RuntimeError("no luck with two")

    def search(self, query, k, *, scope="", asked_at=None):
        return []
"""


def test_a_failing_point_stops_no_other_and_is_tried_again_when_asked(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "flaky.py").write_text(FLAKY)
    line = ["sweep", "system=[]", "+systems.flaky._target_=flaky.Flaky", "+systems.flaky.n=1,2,3"]
    assert main(line) == 4
    captured = capsys.readouterr()
    assert captured.out.startswith("2 ran, 0 reused, 1 failed")
    assert "no luck with two" in captured.err
    assert "Traceback" not in captured.err
    monkeypatch.setenv("MENDED", "1")
    assert main(line) == 4
    assert "--retry-failed" in capsys.readouterr().err
    assert main([*line, "--only-failed"]) == 0
    assert last_lines(capsys)[0].startswith("1 ran, 2 reused, 0 failed")
    assert main(line) == 0
    assert last_lines(capsys)[0].startswith("0 ran, 3 reused, 0 failed")


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["systems.bm25.arms.bm25.k3=1,2"], "systems.bm25.arms.bm25.k3: unknown configuration key"),
        (["systems.bm25.arms.bm25.k1=range(3,1)"], "spans nothing"),
        (["system=bm52"], "did you mean 'bm25'"),
        (["hydra.sweep.dir=/proc/nowhere"], "can't write there"),
    ],
)
def test_bad_sweeps_are_told_in_one_line(here: Path, capsys: pytest.CaptureFixture[str], overrides: list[str], told: str) -> None:
    system = [] if any(o.startswith("system=") for o in overrides) else ["system=bm25"]
    assert main(["sweep", *system, *overrides]) == 2
    error = capsys.readouterr().err.strip()
    assert told in error
    assert len(error.splitlines()) == 1


def test_a_point_that_is_damaged_is_named_and_not_mixed_in(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *GRID]) == 0
    record = next((here / "multirun").rglob("point.json"))
    record.write_text(record.read_text()[:100])
    assert main(["sweep", *GRID]) == 4
    captured = capsys.readouterr()
    assert "damaged point" in captured.err
    assert "remove the folder" in captured.err
    assert "3 reused, 1 failed" in captured.out


@pytest.mark.integration  # ten processes are killed
def test_killed_at_random_ten_times_and_finished_it_equals_an_undisturbed_sweep(here: Path) -> None:
    overrides = ["system=agentmemory_dual", "systems.agentmemory_dual.fusion.k=range(5,105,5)", "dataset.seed=range(0,2)"]
    command = [sys.executable, "-m", "recallmeter", "sweep", *overrides]
    moments = random.Random(0)
    for _ in range(10):
        process = subprocess.Popen(
            [*command, "hydra.sweep.dir=killed"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        enough = len(list(here.glob("killed/*/point.json"))) + moments.randrange(3)
        while process.poll() is None and len(list(here.glob("killed/*/point.json"))) < enough:
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.2))
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert 0 < len(list(here.glob("killed/*/point.json"))) < 40
    for folder in ("killed", "whole"):
        subprocess.run([*command, f"hydra.sweep.dir={folder}"], check=True, capture_output=True)
    killed, whole = (without_times(here / name) for name in ("killed", "whole"))
    assert len(whole) == 2 * 40
    assert killed == whole
    assert not [path for path in here.glob("killed/.*") if "partial" in path.name or "session" in path.name]


@pytest.mark.integration  # a process of its own
def test_on_a_terminal_a_bar_shows_the_best_so_far_and_elsewhere_nothing(here: Path) -> None:
    command = [sys.executable, "-m", "recallmeter", "sweep", *GRID]
    quiet = subprocess.run([*command, "name=quiet"], check=True, capture_output=True, text=True)
    assert quiet.stderr == ""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the end of a pseudo-terminal
            while piece := os.read(ours, 4096):
                shown += piece
    os.close(ours)
    assert process.returncode == 0
    assert "4/4" in shown.decode()
    assert "best 0." in shown.decode()
