"""The simulation: its populations have the mean they should, and its judge is the gate's own."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.inference.verdict import PairedTest, Verdict, decide
from recallmeter.experiments.studies.calibration import ALPHA, POWER, Population, false_alarms, judged, main, share, stated


@pytest.fixture
def population():
    random = np.random.default_rng(5)
    before = random.choice([0.0, 0.5, 1.0], (2, 150))
    changed = random.random(150) < 0.3
    differences = np.where(changed, random.choice([-1.0, -0.5, 0.25, 0.5], (2, 150)), 0.0)
    return Population("made up", before, differences)


@pytest.mark.parametrize("targets", [[0.0, 0.0], [-0.05, -0.02], [-0.3, 0.1]])
def test_weights_reach_their_targets_and_stay_weights(population, targets):
    weights = population.tilted(np.array(targets), [0, 1])
    assert weights.sum() == pytest.approx(1)
    assert (weights > 0).all()
    assert population.differences @ weights == pytest.approx(targets, abs=1e-9)


def test_what_no_weights_can_reach_is_told(population):
    assert population.tilted(np.array([-2.0]), [0]) is None


def test_the_judge_decides_as_the_gate_does(population):
    simulated = population.drawn(np.random.default_rng(1), 12, 60)
    for gate, decisions in zip(simulated, judged(simulated, 0.02), strict=True):
        assert decisions == decide([PairedTest(row, 0.02, ALPHA) for row in gate], power=POWER)


def test_shares_count_gates_and_rules():
    simulated = np.zeros((4, 2, 30))
    simulated[0, 0, :12] = -0.5
    decisions = judged(simulated, 0.0)
    assert share(decisions, Verdict.REGRESSION) == 0.25
    assert share(decisions, Verdict.PASS) == 0.75
    assert (share(decisions, Verdict.PASS, 0), share(decisions, Verdict.PASS, 1)) == (0.75, 1.0)


def test_a_gate_without_a_true_difference_rarely_alarms_and_a_true_drop_is_caught(population, monkeypatch):
    monkeypatch.setattr("recallmeter.experiments.studies.calibration.SIZES", (40,))
    row = false_alarms(population, 300, np.random.default_rng(2))[0]
    assert all(float(cell) <= 100 * (ALPHA + 2.6 * (ALPHA * (1 - ALPHA) / 300) ** 0.5) for cell in row[2:6])
    effect, caught = stated(population, 0.3, 0, 0.0, 40, 300, 3)
    assert effect < 0.3
    assert caught > 0.8


def test_the_tables_are_printed(write_run, capsys, monkeypatch):
    monkeypatch.setattr("recallmeter.experiments.studies.calibration.SIZES", (20,))
    half = {f"q{i:02}": [f"o{i:02}", "o39"] for i in range(0, 24, 3)} | {f"q{i:02}": ["o38"] for i in range(1, 24, 4)}
    better = {f"q{i:02}": ["o39"] for i in range(2, 24, 5)}
    run = write_run("run", {"before": better, "after": half})
    assert main([f"{run}:before:after", "--pairs", "60"]) == 0
    told = capsys.readouterr().out
    assert told.count("### ") == 3
    assert "small: before → after" in told
    with pytest.raises(InputError, match="is not RUN:BEFORE:AFTER"):
        main(["somewhere"])
