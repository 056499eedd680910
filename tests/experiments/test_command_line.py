"""What the command line is told wrongly: the nearest hint, nothing guessed; and what ends a command from outside."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from recallmeter.experiments import cli
from recallmeter.experiments.cli import main
from recallmeter.experiments.doors import cache
from recallmeter.experiments.studies import kills

HINTS = {
    "cache --clear": "clear",
    "cache cler": "clear",
    "cache clear --al": "--all",
    "init --nmae x": "--name",
    "run --fresch": "--fresh",
    "run --jsn system=bm25": "--json",
    "run --quite": "--quiet",
    "sweep --retry-faild": "--retry-failed",
    "sweep --jsno": "--json",
    "gate r --basline b": "--baseline",
    "gate r --baseline b --on-inconclusive fial": "fail",
    "report r --fromat html": "--format",
    "data chek d": "check",
    "data check d --jsn": "--json",
    "eval --qrel q --run r": "--qrels",
    "leaderboard w --sytem x": "--system",
    "compare r --mesure x": "--measure",
    "baseline r --reson x": "--reason",
    "history r --ancor x": "--anchor",
    "rnu": "run",
    "--verion": "--version",
}


@pytest.mark.parametrize("line", HINTS)
def test_the_nearest_is_named(line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.Cache, "clear", lambda *_: pytest.fail("something was cleared"))
    assert main(line.split()) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.endswith(f"did you mean {HINTS[line]!r}?")


@pytest.mark.parametrize("line", ["cache --zzzzz", "run --zzzzz", "zzzzz", "report r --format 7", "-Z"])
def test_where_nothing_is_near_help_is(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert "--help`" in capsys.readouterr().err


def test_runs_of_another_k_say_so(write_run: Callable[..., Path], seal: Callable[[Path], Path], capsys: pytest.CaptureFixture[str]) -> None:
    one, other = write_run("one", {"main": {}}), write_run("other", {"main": {}})
    manifest = json.loads((other / "run.json").read_text())
    (other / "run.json").write_text(json.dumps({**manifest, "k": 50}))
    seal(other)
    assert main(["compare", str(one), str(other), "-m", "mrr", "-m", "recall@5"]) == 0
    out = capsys.readouterr().out
    assert f"note: {one}:main was asked for k = 20 observations a query, {other}:main for k = 50, which moves mrr" in out
    assert main(["compare", str(one), str(other), "-m", "recall@5", "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note.endswith("for k = 50")


SMALL = ["dataset=webapp", "dataset.sessions=2", "system=bm25", "measures=[mrr]", "k=5,10", "name=w"]


def test_a_sweep_tells_as_json_or_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "--json", *SMALL]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["folder"], told["ran"], told["reused"], told["failed"]) == ("multirun/w", 2, 0, 0)
    assert sorted(point["parameters"]["k"] for point in told["points"]) == [5, 10]
    for option, expected in (("--json", '"reused": 2'), ("-q", "multirun/w\n")):
        assert main(["sweep", option, *SMALL]) == 0
        out = capsys.readouterr().out
        assert expected in out
        assert option == "--json" or out == expected


@pytest.mark.parametrize(("raised", "code"), [(cli.Terminated, 128 + signal.SIGTERM), (KeyboardInterrupt, 128 + signal.SIGINT)])
def test_a_signal_ends_a_command_in_one_line(
    raised: type[BaseException], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended(*_: object) -> None:
        raise raised

    monkeypatch.setattr(cache, "_list", ended)
    assert main(["cache"]) == code
    assert capsys.readouterr().err == "recallmeter: interrupted; nothing half-done was kept\n"


@pytest.mark.integration
@pytest.mark.parametrize("command", ["run", "sweep", "report", "baseline"])
def test_what_is_killed_leaves_nothing_torn(command: str) -> None:
    head, *rows = kills.study(2, seed=1, only=[command])
    assert [row[:2] for row in rows] == [[command, name] for name in ("SIGKILL", "SIGTERM", "SIGINT")]
    assert {cell for row in rows for cell in row[head.index("torn") :]} == {"0"}
