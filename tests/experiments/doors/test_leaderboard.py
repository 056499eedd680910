"""The door leaderboard: how it ends on what it cannot do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recallmeter.evaluation.sweeps.points import Point, write_point
from recallmeter.experiments.cli import main


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    for n in range(2):
        point = Point(
            f"key{n}",
            {"weight": n},
            "complete",
            systems=("dual",),
            measures=("recall@10",),
            queries=("q1", "q2", "q3"),
            values=np.full((1, 1, 3), n / 2),
            tokens={"dual": 1.0},
            latency={"dual": {"p50": 1.0, "p95": 1.0}},
            manifest={"dataset": {"fingerprint": "f"}},
        )
        write_point(tmp_path / "sweep" / f"key{n}", point)
    return tmp_path / "sweep"


@pytest.mark.parametrize("option", ["--figures", "--front"])
def test_what_cannot_be_written_is_one_line(sweep: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    (sweep.parent / "file").write_text("")
    assert main(["leaderboard", str(sweep), option, str(sweep.parent / "file" / "x")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "can't be written" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("number", ["0", "-1"])
def test_no_rows_cannot_be_shown(sweep: Path, capsys: pytest.CaptureFixture[str], number: str) -> None:
    assert main(["leaderboard", str(sweep), "--top", number]) == 2
    assert "rows can't be shown" in capsys.readouterr().err
    assert main(["leaderboard", str(sweep), "--top", "1"]) == 0
    assert "1 more rows" in capsys.readouterr().out
