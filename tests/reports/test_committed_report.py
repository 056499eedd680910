"""The committed report is what the code makes today: made again, only times and facts of the machine differ."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from recallmeter.evaluation.record import load_run
from recallmeter.experiments.cli import main

COMMITTED = Path(__file__).resolve().parents[2] / "reports" / "REAL-EMBEDDINGS.md"
TOLERANCE = 0.5
"""Percentage points that a metric may move on another processor, by the flip of a near-tie."""

OF_THE_MACHINE = ("The environment", "Latency", "Latency by arm and stage", "Embedding", "How to reproduce it")
NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")


def cells(markdown: str) -> list[tuple[str, str]]:
    """Return (place, text) of every line, and of every table cell by its row and column, without times and machine facts."""
    found, section, head = [], "", []
    for line in markdown.splitlines():
        if title := re.match(r"#+ (.*)|<details><summary>(.*)</summary>", line):
            section = title[1] or title[2]
        if not line.startswith("|"):
            head = []
        if section in OF_THE_MACHINE or not line.strip() or line.startswith(("Times were measured", "Latency was taken")):
            continue
        row = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        if not line.startswith("|"):
            quiet = re.sub(r"[\d.,]+ ms", "… ms", line)
            found.append((section, re.sub(r"load of up to \d+\.\d", "load of up to …", quiet)))
        elif not head:
            head = row
        else:
            timed = [bool(re.search(r"\bms\b|seconds", column)) for column in head]
            found += [(f"{section}, {row[0]}, {c}", cell) for c, cell, t in zip(head, row, timed, strict=True) if not t]
    return found


def drift(committed: str, made: str) -> list[str]:
    """Return what differs beyond the tolerance, by place; print what differs within it."""
    problems = []
    before, after = cells(committed), cells(made)
    if [place for place, _ in before] != [place for place, _ in after]:
        return ["the report has other sections, rows or columns"]
    for (place, old), (_, new) in zip(before, after, strict=True):
        if old == new:
            continue
        numbers = list(zip(NUMBER.findall(old), NUMBER.findall(new), strict=False))
        apart = max((abs(float(a.replace(",", "")) - float(b.replace(",", ""))) for a, b in numbers), default=0.0)
        if NUMBER.sub("", old) != NUMBER.sub("", new) or apart > TOLERANCE:
            problems.append(f"{place}: {old!r} is now {new!r}")
        else:
            print(f"moved within {TOLERANCE}: {place}: {old!r} is now {new!r}")
    return problems


@pytest.mark.skipif(not COMMITTED.exists(), reason="no report is committed")
def test_making_the_report_again_changes_only_times_and_machine_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "experiment=real_embeddings", "hydra.run.dir=run"]) == 0
    assert main(["report", "run", "-o", "reports/REAL-EMBEDDINGS.md"]) == 0
    assert drift(COMMITTED.read_text(encoding="utf-8"), (tmp_path / "reports" / "REAL-EMBEDDINGS.md").read_text(encoding="utf-8")) == []
    for figure in sorted((COMMITTED.parent / "figures").glob("real-embeddings-*.svg")):
        assert (tmp_path / "reports" / "figures" / figure.name).exists()
    assert load_run("run").manifest["failures"] == []


TABLE = "## Head to head\n\n| system | R@5 | latency, ms |\n| :--- | ---: | ---: |\n| dual | 60.0 | 7.1 |\n"


def test_the_check_sees_a_cell_that_moved() -> None:
    assert drift(TABLE, TABLE.replace("7.1", "9.9")) == []
    assert drift(TABLE, TABLE.replace("60.0", "60.4")) == []
    assert drift(TABLE, TABLE.replace("60.0", "60.6")) == ["Head to head, dual, R@5: '60.0' is now '60.6'"]
    assert drift(TABLE, TABLE.replace("dual", "triple")) != []
    assert drift(TABLE, TABLE + "more\n") != []
    assert drift(TABLE + "p50 under a load of up to 6.2.\n", TABLE + "p50 under a load of up to 14.8.\n") == []
