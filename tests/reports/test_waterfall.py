"""The waterfall of one query."""

from __future__ import annotations

from pathlib import Path

import pytest
from recallmeter.datasets.model import Dataset
from recallmeter.evaluation.record import Run, load_run
from recallmeter.reports.waterfall import slow_searches, slowest_queries, waterfall

SPANS = {"total.bm25": 10.0, "total.vector.embed": 60.0, "total.vector": 70.0, "total.fusion": 0.0, "total": 100.0}
TRACE = {
    "query": "q01",
    "arms": {"bm25": {"ids": ["o01", "o02"], "scores": [2.0, 1.0]}, "vector": {"ids": ["o01"], "scores": [0.5]}},
    "dropped": {},
    "notes": ["something to know"],
}


@pytest.fixture
def run(write_run, seal, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose query q01 has spans, arms and a note."""
    folder: Path = write_run("run", {"dual": {}, "grep": {}})
    timings = (folder / "timings.csv").read_text().splitlines()
    timings = [line for line in timings if not line.startswith("dual,q01,")]
    timings += [f"dual,q01,{span},{ms}" for span, ms in SPANS.items()]
    (folder / "timings.csv").write_text("\n".join(timings) + "\n")
    monkeypatch.setattr(
        Run, "traces", lambda self, system: {q: TRACE if q == "q01" else TRACE | {"arms": {}, "notes": []} for q in self.queries}
    )
    return load_run(seal(folder))


def bars(drawn: str) -> dict[str, tuple[int, int]]:
    """Part → where its bar begins and how long it is."""
    found = {}
    for line in drawn.splitlines():
        if ".000 ms" in line:
            bar = line.partition(" ms")[2].removeprefix("  ")
            found[line.split()[0]] = (len(bar) - len(bar.lstrip(" ")), bar.count("█"))
    return found


def test_parts_follow_one_another_inside_the_whole(run: Run) -> None:
    drawn = bars(waterfall(run, "dual", "q01"))
    assert list(drawn) == ["total", "bm25", "vector", "embed", "fusion"]
    (_, whole), (_, bm25), (vector_begin, vector), (embed_begin, embed) = list(drawn.values())[:4]
    assert vector_begin == embed_begin == bm25
    assert (bm25, embed, vector) == pytest.approx([whole * share for share in (0.1, 0.6, 0.7)], abs=1)
    assert drawn["fusion"][1] == 0


def test_it_tells_what_the_arms_found_and_what_is_to_be_known(run: Run) -> None:
    drawn = waterfall(run, "dual", "q01").splitlines()
    assert drawn[0] == "dual: 'question 1' (q01)"
    assert drawn[2].endswith("2 found")
    assert drawn[-1] == "note: something to know"


def test_the_slowest_query_of_each_system_is_drawn(run: Run) -> None:
    first, second = slowest_queries(run).split("\n\n")
    assert first.startswith("dual: 'question 1'")
    assert second.startswith("grep: ")


def test_a_slow_search_is_flagged_with_the_part_to_blame(write_run, memory: Dataset) -> None:
    slow = load_run(write_run("slow", {"grep": {}}, ms=612.0))
    assert waterfall(slow, "grep", "q01").splitlines()[-1] == "SLOW: over 500 ms, of which 612 ms in total"
    assert slow_searches(slow) == ["SLOW grep: 25 of 25 queries over 500 ms, the slowest q00: 612 ms, of which 612 ms in total"]


def test_a_quick_run_has_nothing_to_flag(run: Run) -> None:
    assert slow_searches(run) == []
