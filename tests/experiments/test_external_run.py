"""A whole run with programs that misbehave beside systems that don't."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from recallmeter.datasets.formats.jsonl import write_jsonl
from recallmeter.datasets.model import Observation, Query
from recallmeter.evaluation.record import load_run
from recallmeter.experiments.cli import main

ROGUE = Path(__file__).resolve().parents[1] / "data" / "external" / "rogue.py"
TOLD = {
    "kill": "ended during search by signal 9",
    "hang": "gave no answer to search within 1 s",
    "rubbish": "printed what is not JSON: 'Loaded 240 memories!'",
    "unknown": "unknown id ('?o9999')",
    "scope": "other scope ('1-0' of 'scope-1', asked in 'scope-0')",
    "more": "more than k (6 for k = 5)",
    "nan": "score not finite ('0-0' at nan)",
}


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    observations = [
        Observation(
            id=f"{scope}-{n}",
            session_id=f"s{n}",
            timestamp=start + timedelta(days=n),
            type="note",
            title=f"common word{n}",
            scope=f"scope-{scope}",
        )
        for scope in range(2)
        for n in range(8)
    ]
    queries = [Query(id=f"q{n}", text=f"common word{n}", relevant={f"{n % 2}-{n}": 1}, scope=f"scope-{n % 2}") for n in range(6)]
    (tmp_path / "memory").mkdir()
    write_jsonl(tmp_path / "memory", "two scopes", observations, queries)
    return tmp_path / "memory"


def test_each_fault_is_named_and_the_other_systems_keep_their_results(
    memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = tmp_path / "conf" / "system"
    systems.mkdir(parents=True)
    for mode in TOLD:
        command = json.dumps([sys.executable, str(ROGUE), mode])
        target = "recallmeter.retrieval.external.process.Process"
        (systems / f"rogue_{mode}.yaml").write_text(
            f"# @package systems.rogue_{mode}\n_target_: {target}\ncommand: {command}\nsearch_timeout: 1\n"
        )
    rogues = {f"rogue_{mode}": told for mode, told in TOLD.items()}
    chosen = ",".join(["grep", *rogues, "bm25"])
    overrides = [f"system=[{chosen}]", "dataset=jsonl", f"dataset.path={memory}", "k=5", "measures=[recall@5]"]
    overrides += ["protocol.repeats=1", "protocol.warm_up=0"]
    assert main(["run", "--config-dir", str(tmp_path / "conf"), *overrides, f"hydra.run.dir={tmp_path / 'run'}"]) == 4
    errors = capsys.readouterr().err
    run = load_run(tmp_path / "run")
    failures = {failure["system"]: failure for failure in run.manifest["failures"]}
    assert list(failures) == list(rogues)
    for rogue, told in rogues.items():
        assert failures[rogue]["queries"] == 4
        assert failures[rogue]["query"] == "q2"
        assert told in failures[rogue]["error"]
        assert f"FAILED {rogue}: 4 queries, the first q2: " in errors
        status = [row["status"] for row in run.per_query if row["system"] == rogue]
        assert status == ["ok", "ok", "failed", "failed", "failed", "failed"]
    for neighbour in ("grep", "bm25"):
        assert run.summary["systems"][neighbour]["measures"]["recall@5"]["mean"] == 1.0
    assert "Traceback" not in errors
