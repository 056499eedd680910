"""The door of the doctor."""

from __future__ import annotations

import pytest
from recallmeter.experiments.cli import main

LEAKY = """
from recallmeter.retrieval.ranking import Ranking

class Leaky:
    def index(self, observations):
        self.observations = list(observations)

    def search(self, query, k, *, scope="", asked_at=None):
        return Ranking.of([("nowhere", 1.0), *((o.id, float(-number)) for number, o in enumerate(self.observations))][:k])
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sound_systems_pass_and_leave_nothing_behind(folder, capsys):
    assert main(["doctor", "system=[grep,bm25]"]) == 0
    told = capsys.readouterr().out
    assert told.endswith("every check passed\n")
    assert "ok    bm25: blind to ids and order: all" in told
    assert list(folder.iterdir()) == []


def test_a_system_of_ones_own_that_leaks_ends_with_1(folder, capsys):
    (folder / "mine.py").write_text(LEAKY)
    assert main(["doctor", "system=[grep]", "systems.grep=null", "+systems.mine._target_=mine.Leaky"]) == 1
    told = capsys.readouterr().out
    assert "FAIL  mine: keeps its contract: unknown id (174 queries)" in told
    assert "FAIL  mine: blind to ids and order:" in told


@pytest.mark.parametrize(
    ("override", "complaint"), [("k=5", "k = 5 is too shallow to examine"), ("dataset=nowhere", "nowhere"), ("systms=1", "systms")]
)
def test_bad_usage_is_told_in_one_line(folder, capsys, override, complaint):
    assert main(["doctor", "system=[grep]", override]) == 2
    err = capsys.readouterr().err
    assert complaint in err
    assert err.count("\n") == 1
