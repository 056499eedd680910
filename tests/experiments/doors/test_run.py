from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from recallmeter.evaluation.record import load_run
from recallmeter.experiments.cli import main
from recallmeter.experiments.paths import CONF


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was told on stderr, which must be one line."""
    error = capsys.readouterr().err.strip()
    assert "Traceback" not in error
    assert len(error.splitlines()) == 1, error
    return error


def test_a_run_leaves_one_directory_that_can_be_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "system=[grep,bm25]", "hydra.run.dir=out"]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[-1] == "out"
    assert [path.name for path in here.iterdir()] == ["out"]
    run = load_run(here / "out")
    assert run.systems == ("grep", "bm25")
    assert {row["system"] for row in run.per_query} == {"grep", "bm25"}
    assert len(run.per_query) == 2 * len(run.queries)
    assert set(run.rankings["bm25"]) <= set(run.queries)
    assert run.manifest["status"] == "complete"
    assert {"total", "total.bm25"} <= {span for system, _, span, _ in run.timings if system == "bm25"}


def test_a_run_tells_its_result_as_json_or_its_directory_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "system=grep", "--json", "hydra.run.dir=out"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("folder") == "out"
    assert told == load_run(here / "out").summary
    assert main(["run", "-q", "system=grep", "hydra.run.dir=quiet"]) == 0
    assert capsys.readouterr().out == "quiet\n"


@pytest.mark.parametrize(("command", "words"), [("run", ["--jsn"]), ("sweep", ["--jsn"]), ("run", ["--cfg", "jobs"])])
def test_an_option_that_there_is_not_is_named(here: Path, capsys: pytest.CaptureFixture[str], command: str, words: list[str]) -> None:
    assert main([command, "system=grep", *words]) == 2
    assert words[-1] in told(capsys)


def test_what_an_experiment_sets_of_systems_not_chosen_is_left_aside(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "experiment").mkdir()
    (here / "experiment" / "own.yaml").write_text("# @package _global_\nsystems: {bm25: {k: 3}, nobody: {k: 3}}\n")
    assert main(["run", "-cd", ".", "experiment=own", "system=grep", "hydra.run.dir=out"]) == 2
    assert "systems.nobody: dict has no index and search" in told(capsys)
    assert main(["run", "-cd", ".", "experiment=own", "system=grep", "~systems.nobody", "hydra.run.dir=out"]) == 0
    assert load_run(here / "out").systems == ("grep",)


@pytest.mark.parametrize("language", ["no", '"no"'])
def test_a_text_that_yaml_reads_as_false_has_to_be_quoted(here: Path, capsys: pytest.CaptureFixture[str], language: str) -> None:
    (here / "system").mkdir()
    (here / "system" / "norwegian.yaml").write_text(
        "# @package systems.norwegian\n_target_: recallmeter.Pipeline\narms:\n  bm25:\n    _target_: recallmeter.BM25\n"
        f"    analyzer: {{_target_: recallmeter.Analyzer, language: {language}}}\n"
    )
    code = main(["run", "-cd", ".", "system=norwegian", "hydra.run.dir=out", "-q"])
    if language == "no":
        assert code == 2
        assert re.search(r"systems\.norwegian\.arms\.bm25\.analyzer\.language: .*quote it", told(capsys))
        assert not (here / "out").exists()
    else:
        assert code == 0


def test_the_default_directory_is_named_by_time_and_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "system=grep", "name=trial"]) == 0
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert re.fullmatch(r"runs/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{6}-trial", last)
    assert (here / last / "run.json").is_file()


def test_two_runs_differ_in_times_alone(here: Path) -> None:
    for name in ("one", "two"):
        assert main(["run", "system=[grep,bm25,random]", f"hydra.run.dir={name}"]) == 0
    for path in sorted((here / "one").rglob("*.*")):
        other = here / "two" / path.relative_to(here / "one")
        if path.name in ("timings.csv", "run.json"):
            continue
        if path.name == "summary.json":
            assert without_times(path) == without_times(other)
        else:
            assert path.read_bytes() == other.read_bytes(), path.name
    first, second = (json.loads((here / name / "run.json").read_text()) for name in ("one", "two"))
    for key in ("started", "ended", "calibration_ms", "files", "load", "command", "digest"):  # the command names the folder
        first.pop(key), second.pop(key)
    assert first == second


def without_times(path: Path) -> dict:
    summary = json.loads(path.read_text())
    for system in summary["systems"].values():
        del system["latency"]
    return summary


def test_an_override_reaches_the_system(here: Path) -> None:
    assert main(["run", "system=bm25", "systems.bm25.arms.bm25.k1=0", "dataset.seed=3", "hydra.run.dir=out"]) == 0
    run = load_run(here / "out")
    assert run.config["systems"]["bm25"]["arms"]["bm25"]["k1"] == 0
    assert run.config["dataset"]["seed"] == 3


PLUG_IN = """
class Shortest:
    def index(self, observations):
        self.memory = sorted(observations, key=lambda o: (len(o.narrative), o.id))

    def search(self, query, k, *, scope="", asked_at=None):
        words = set(query.lower().split())
        found = [o for o in self.memory if words & set(o.title.lower().split()) and (asked_at is None or o.timestamp <= asked_at)]
        return [(o.id, float(-rank)) for rank, o in enumerate(found[:k])]


class Broken(Shortest):
    def search(self, query, k, *, scope="", asked_at=None):
        raise RuntimeError("out of\\nluck")


class Leaving(Shortest):
    def search(self, query, k, *, scope="", asked_at=None):
        import sys
        sys.exit(0)


class Unprintable(Shortest):
    def search(self, query, k, *, scope="", asked_at=None):
        raise ValueError("half \\ud800 and \\x1b[31m red")


class Shuffling(Shortest):
    calls = 0

    def search(self, query, k, *, scope="", asked_at=None):
        Shuffling.calls += 1
        return [(o.id, 1.0) for o in sorted(self.memory, key=lambda o: hash((o.id, Shuffling.calls)))[:k]]


class Greedy(Shortest):
    def search(self, query, k, *, scope="", asked_at=None):
        return super().search(query, k + 1, scope=scope, asked_at=asked_at) * 2
"""


@pytest.fixture
def plug_ins(here: Path) -> Path:
    (here / "mine" / "system").mkdir(parents=True)
    (here / "mine" / "my_memory.py").write_text(PLUG_IN)
    for name in ("shortest", "broken", "greedy", "leaving", "unprintable", "shuffling"):
        yaml = f"# @package systems.{name}\n_target_: my_memory.{name.capitalize()}\n"
        (here / "mine" / "system" / f"{name}.yaml").write_text(yaml)
    return here


def test_a_plug_in_of_ones_own_stands_in_the_table(plug_ins: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--config-dir", "mine", "system=[grep,shortest]", "hydra.run.dir=out"]) == 0
    assert re.search(r"^shortest +\d", capsys.readouterr().out, re.MULTILINE)
    assert load_run(plug_ins / "out").rankings["shortest"]


def test_a_plug_in_that_raises_fails_alone(plug_ins: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--config-dir", "mine", "system=[broken,grep]", "hydra.run.dir=out"]) == 4
    assert "FAILED broken: 174 queries, the first" in told(capsys)
    run = load_run(plug_ins / "out")
    (failure,) = run.manifest["failures"]
    assert failure["system"] == "broken"
    assert failure["queries"] == len(run.queries)
    assert failure["error"] == "RuntimeError: out of luck"
    assert run.summary["systems"]["broken"]["measures"]["recall@10"]["mean"] == 0
    assert run.summary["systems"]["grep"]["measures"]["recall@10"]["mean"] > 0


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("leaving", "SystemExit: 0"),
        ("unprintable", r"ValueError: half \ud800 and \x1b[31m red"),
        ("shuffling", "two searches for one query gave different answers"),
    ],
)
def test_whatever_a_plug_in_does_is_told_and_the_others_are_kept(plug_ins: Path, name: str, error: str) -> None:
    assert main(["run", "--config-dir", "mine", f"system=[{name},grep]", "hydra.run.dir=out"]) == 4
    run = load_run(plug_ins / "out")
    (failure,) = run.manifest["failures"]
    assert failure["system"] == name
    assert error in failure["error"]
    assert run.summary["systems"]["grep"]["measures"]["recall@10"]["mean"] > 0


def test_a_breach_of_the_contract_is_named_or_repaired_and_counted(plug_ins: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--config-dir", "mine", "system=[greedy]", "hydra.run.dir=strict"]) == 4
    assert "id twice" in told(capsys)
    assert main(["run", "--config-dir", "mine", "system=[greedy]", "protocol.strict=false", "hydra.run.dir=repaired"]) == 0
    assert load_run(plug_ins / "repaired").summary["systems"]["greedy"]["faults"]["id twice"] > 0


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["systems.bm25.arms.bm25.k2=1"], "unknown configuration key"),
        (["system=bm52"], "did you mean 'bm25'"),
        (["system=[bm25,grpe]"], "did you mean 'grep'"),
        (["system=[]"], "no system to evaluate"),
        (["systems=foo"], "systems"),
        (["protocol=null"], "protocol"),
        (["measures=null"], "is not a list of measures"),
        (["measures=[]"], "is not a list of measures"),
        (["measures=[recall@50]"], "recall@50 looks at 50 hits"),
        (["k=5"], "looks at 10 hits"),
        (["seed=abc"], "seed is 'abc'"),
        (["seed=-1"], "seed is -1"),
        (["dataset=null"], "null is read as NoneType"),
        (["protocol.strict=maybe"], "strict is 'maybe'"),
        (["system=dual", "systems.dual.fusion.weights={bm25: 0, vector: 0}"], "every weight is 0"),
        (["system=dual", "+systems.dual.fusion.weights.graph=1"], "there is no arm 'graph'"),
        (["hydra.run.dir=/proc/nowhere/run"], "/proc/nowhere"),
        (["dataset=webap"], "did you mean 'webapp'"),
        (["system=[bm25"], "system=[bm25"),
        (["k=0"], "k is 0"),
        (["k=many"], "k is 'many'"),
        (["protocol.repeats=0"], "repeats is 0"),
        (["measures=[recal@5]"], "did you mean recall@k"),
        (["dataset=jsonl"], "dataset.path"),
        (["dataset=jsonl", "dataset.path=nowhere"], "nowhere"),
        (["systems.bm25.arms.bm25.b=7"], "b 7"),
        (["embedder.encoder.path=nowhere", "system=dual"], "neither a folder nor a model"),
        (["system=grep", "systems.grep._target_=no.such.Thing"], "no.such"),
    ],
)
def test_bad_input_is_told_in_one_line_and_leaves_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], overrides: list[str], expected: str
) -> None:
    system = [] if any(o.startswith("system=") for o in overrides) else ["system=bm25"]
    assert main(["run", *system, *overrides]) == 2
    assert expected in told(capsys)
    assert not list(here.rglob("*.*"))


def test_a_broken_line_of_data_is_named_by_its_number(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "data").mkdir()
    good = {"id": "a", "session_id": "s", "timestamp": "2026-01-05T09:00:00+00:00", "type": "note", "title": "t"}
    (here / "data" / "observations.jsonl").write_text(json.dumps(good) + "\n{broken\n")
    (here / "data" / "queries.jsonl").write_text('{"id": "q", "text": "t", "relevant": {"a": 1}}\n')
    assert main(["run", "system=grep", "dataset=jsonl", "dataset.path=data"]) == 2
    assert "observations.jsonl:2" in told(capsys)


def test_a_run_is_never_written_over_another(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "out").mkdir()
    (here / "out" / "precious.txt").write_text("mine")
    assert main(["run", "system=grep", "hydra.run.dir=out"]) == 2
    assert "the folder is not empty" in told(capsys)
    assert [path.name for path in (here / "out").iterdir()] == ["precious.txt"]


def test_an_interrupted_run_leaves_nothing_that_looks_complete(here: Path) -> None:
    (here / "slow_memory.py").write_text(
        "import time\nfrom pathlib import Path\nclass Slow:\n def index(self, observations): Path('indexed').touch()\n"
        " def search(self, query, k, *, scope='', asked_at=None):\n  time.sleep(.2)\n  return []\n"
    )
    command = [
        sys.executable,
        "-m",
        "recallmeter.experiments.cli",
        "run",
        "system=grep",
        "systems.grep._target_=slow_memory.Slow",
        "hydra.run.dir=out",
    ]
    command.append("~systems.grep.arms")

    def hear() -> None:  # whoever runs the tests in the background is deaf to it, and so would its children be
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    process = subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, text=True, preexec_fn=hear)
    for _ in range(1_200):  # a machine may be busy
        if (here / "indexed").exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130, error
    assert "interrupted" in error
    assert "Traceback" not in error
    assert not (here / "out").exists()
    assert not list(here.glob(".out*"))


def test_per_query_scores_are_written_to_the_last_bit(here: Path) -> None:
    assert main(["run", "system=bm25", "hydra.run.dir=out"]) == 0
    with (here / "out" / "per_query.csv").open() as file:
        values = [float(row["ndcg@10"]) for row in csv.DictReader(file) if row["answerable"] == "1"]
    run = load_run(here / "out")
    assert sum(values) / len(values) == pytest.approx(run.summary["systems"]["bm25"]["measures"]["ndcg@10"]["mean"], abs=1e-15)


def test_runs_begun_in_the_same_second_have_folders_of_their_own() -> None:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        folders = [compose("config", return_hydra_config=True).hydra.run.dir for _ in range(4)]
    assert len(set(folders)) == 4
    assert folders == sorted(folders)
