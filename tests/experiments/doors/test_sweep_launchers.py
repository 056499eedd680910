"""The same sweep through every launcher gives the same points, whoever dies on the way."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from recallmeter.experiments.cli import main

pytestmark = pytest.mark.integration

FORTY = ["system=bm25", "systems.bm25.arms.bm25.k1=range(0.5,2.5,0.25)", "dataset.seed=range(0,5)"]
RECALLMETER = [sys.executable, "-m", "recallmeter"]


def values(folder: Path) -> dict[str, bytes]:
    """Return the values of every point by its key."""
    return {path.parent.name: path.read_bytes() for path in sorted(folder.glob("*/values.npy"))}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The points of the sweep, run one after the other in one process."""
    here = tmp_path_factory.mktemp("local")
    subprocess.run([*RECALLMETER, "sweep", *FORTY, "name=local"], cwd=here, check=True, capture_output=True)
    found = values(here / "multirun" / "local")
    assert len(found) == 40
    return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_joblib(here: Path, local: dict[str, bytes]) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="pip install recallmeter[joblib]")
    command = [*RECALLMETER, "sweep", *FORTY, "name=jobs", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]
    subprocess.run(command, cwd=here, check=True, capture_output=True)
    assert values(here / "multirun" / "jobs") == local


def test_submitit_on_this_machine(here: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="pip install recallmeter[submitit]")
    few = ["system=bm25", "systems.bm25.arms.bm25.k1=0.5,0.75", "dataset.seed=0"]
    command = [*RECALLMETER, "sweep", *few, "name=jobs", "hydra/launcher=submitit_local", "hydra.launcher.timeout_min=5"]
    subprocess.run(command, cwd=here, check=True, capture_output=True)
    assert main(["sweep", *few, "name=one"]) == 0
    assert values(here / "multirun" / "jobs") == values(here / "multirun" / "one")
    assert len(values(here / "multirun" / "one")) == 2


SLURM = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={next_port}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=local Nodes={host} Default=YES
"""
"""One node, by itself, with nothing of it outside a folder; `slurm-wlm` and `munge` of Debian 12 (22.05)."""


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A Slurm of one node on this machine; gives its folder."""
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="pip install recallmeter[submitit]")
    if os.getuid() or not all(map(shutil.which, ("munged", "slurmctld", "slurmd", "sbatch"))):
        pytest.skip("needs root, and the packages slurm-wlm and munge")
    folder = Path("/tmp") / f"slurm-{os.getpid()}"  # paths of Unix sockets must be short
    host, port = socket.gethostname().partition(".")[0], 20_000 + os.getpid() % 20_000
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "slurm.conf").write_text(SLURM.format(host=host, port=port, next_port=port + 1, folder=folder))
    (folder / "munge.key").write_bytes(secrets.token_bytes(1024))
    (folder / "munge.key").chmod(0o400)
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    munge = {
        "key-file": "munge.key",
        "socket": "munge.socket",
        "pid-file": "munged.pid",
        "log-file": "munged.log",
        "seed-file": "munge.seed",
    }
    daemons = {
        "munged": ["--force", *(f"--{option}={folder / file}" for option, file in munge.items())],
        "slurmctld": [],
        "slurmd": ["-N", host],
    }
    try:
        for daemon, options in daemons.items():
            started = subprocess.run([daemon, *options], capture_output=True, text=True)
            if started.returncode:
                pytest.skip(f"{daemon} does not start here: {started.stderr.strip()[-300:]}")
        shown = ""
        for _ in range(60):
            shown = subprocess.run(["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True).stdout
            if shown.startswith("idle"):
                break
            time.sleep(0.5)
        else:
            pytest.skip(f"the node does not become idle here: {shown.strip()}")
        yield folder
    finally:
        for daemon in reversed(daemons):
            pid = folder / f"{daemon}.pid"
            if pid.exists():
                os.kill(int(pid.read_text()), signal.SIGTERM)
        for _ in range(50):
            if not any(folder.glob("*.pid")):
                break
            time.sleep(0.1)
        shutil.rmtree(folder, ignore_errors=True)


def test_slurm_on_one_node(here: Path, slurm: Path) -> None:
    few = ["system=bm25", "systems.bm25.arms.bm25.k1=0.5,0.75", "dataset.seed=0"]
    queue = ["hydra/launcher=submitit_slurm", "hydra.launcher.partition=local", "hydra.launcher.mem_gb=null"]
    done = subprocess.run([*RECALLMETER, "sweep", *few, *queue, "name=jobs"], cwd=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "2 ran" in done.stdout
    assert len(list((here / "multirun" / "jobs" / ".submitit").glob("*/*_result.pkl"))) == 2
    assert "JobId=" in (slurm / "slurmctld.log").read_text()
    assert main(["sweep", *few, "name=one"]) == 0
    assert values(here / "multirun" / "jobs") == values(here / "multirun" / "one")


@pytest.fixture
def cluster(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A Ray cluster of two nodes of one core each; gives its address and the process of the second node."""
    pytest.importorskip("hydra_plugins.hydra_ray_launcher", reason="pip install recallmeter[ray]")
    (here / "token").write_text(secrets.token_hex(32))
    for name, value in {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(here / "token"), "RAY_USAGE_STATS_ENABLED": "0"}.items():
        monkeypatch.setenv(name, value)
    ray, port = Path(sys.executable).with_name("ray"), 20_000 + os.getpid() % 20_000
    sockets = Path("/tmp") / f"ray-{os.getpid()}"  # paths of Unix sockets must be short
    common = ["--num-cpus=1", "--object-store-memory=100000000", "--block"]
    nodes = []
    try:
        head = [str(ray), "start", "--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={sockets}", *common]
        nodes.append(subprocess.Popen(head, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))
        address = f"127.0.0.1:{port}"
        status, shown = subprocess.CompletedProcess([], 1, b"", b""), ""
        for _ in range(120):
            status = subprocess.run([str(ray), "status", f"--address={address}"], capture_output=True)
            if status.returncode == 0:
                break
            time.sleep(0.5)
        else:
            pytest.fail(f"the head of the cluster did not come up: {status.stderr.decode()[-500:]}")
        worker = [str(ray), "start", f"--address={address}", *common]
        nodes.append(subprocess.Popen(worker, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))
        for _ in range(120):
            shown = subprocess.run([str(ray), "status", f"--address={address}"], capture_output=True, text=True).stdout
            if "/2.0 CPU" in shown:
                break
            time.sleep(0.5)
        else:
            pytest.fail(f"the second node did not join: {shown[-500:]}")
        yield address, nodes[1]
    finally:
        for node in reversed(nodes):
            if node.poll() is None:
                os.killpg(node.pid, signal.SIGKILL)
            node.wait()
        for process in Path("/proc").glob("[0-9]*"):  # what the nodes started and left behind names their folder
            with suppress(OSError):
                if str(sockets).encode() in (process / "cmdline").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
        shutil.rmtree(sockets, ignore_errors=True)


def test_ray_on_two_nodes_one_of_which_is_killed(here: Path, local: dict[str, bytes], cluster: tuple[str, subprocess.Popen[bytes]]) -> None:
    address, second = cluster
    folder = here / "multirun" / "nodes"
    launcher = ["hydra/launcher=ray", f"+hydra.launcher.ray.init.address={address}", "+hydra.launcher.ray.init.object_store_memory=null"]
    worked: set[str] = set()

    def kill_when_both_have_worked() -> None:
        while len(worked) < 2 and second.poll() is None:
            for path in folder.glob("*/point.json"):
                worked.add(json.loads(path.read_text())["manifest"]["node"])
            time.sleep(0.05)
        os.killpg(second.pid, signal.SIGKILL)

    watcher = threading.Thread(target=kill_when_both_have_worked, daemon=True)
    watcher.start()
    done = subprocess.run([*RECALLMETER, "sweep", *FORTY, *launcher, "name=nodes"], cwd=here, capture_output=True, text=True)
    watcher.join(timeout=10)
    assert done.returncode == 0, done.stderr[-2000:]
    assert second.wait(timeout=10) is not None
    assert len(worked) == 2
    assert values(folder) == local


def test_optuna_with_two_objectives_goes_on_from_its_storage(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper", reason="pip install recallmeter[optuna]")
    for trials in (20, 40):
        assert main(["sweep", "experiment=bm25_search", "hydra.sweeper.n_trials=20"]) == 0
        assert len(values(here / "multirun" / "bm25-search")) == trials
    capsys.readouterr()
    assert main(["leaderboard", "multirun/bm25-search", "--figures", "figures", "--front", "front.csv"]) == 0
    assert "*" in capsys.readouterr().out
    assert [path.name for path in (here / "figures").iterdir()] == ["front.svg"]
    head, *front = (here / "front.csv").read_text().splitlines()
    assert {"recall@10", "tokens", "systems.bm25.arms.bm25.k1"} < set(head.split(","))
    assert 0 < len(front) < 40
