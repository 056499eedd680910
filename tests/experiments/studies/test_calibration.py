"""The simulation: its populations have the mean and the correlation they should, and its judge is the gate's own."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.inference.clusters import Clusters
from recallmeter.evaluation.inference.verdict import PairedTest, decide
from recallmeter.experiments.studies.calibration import ALPHA, HEAD, MAX_DROP, POWER, Population, cell, judged, made, main


@pytest.fixture
def population():
    random = np.random.default_rng(5)
    changed = random.random(150) < 0.3
    return Population("made up", np.where(changed, random.choice([-1.0, -0.5, 0.25, 0.5], 150), 0.0), random.choice([0.0, 0.5, 1.0], 150))


@pytest.mark.parametrize("loss", [0.0, 0.02, 0.3, -0.1])
def test_weights_reach_their_loss_and_stay_weights(population, loss):
    weights = population.tilted(loss)
    assert weights.sum() == pytest.approx(1)
    assert (weights > 0).all()
    assert population.differences @ weights == pytest.approx(-loss, abs=1e-9)


def test_what_no_weights_can_reach_is_told(population):
    assert population.tilted(2.0) is None


def test_queries_of_a_group_correlate_by_as_much_as_is_said(population):
    grouped = Population("grouped", population.differences, size=2, correlation=0.6)
    drawn = grouped.drawn(np.random.default_rng(1), 20_000, 2, None)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0.6, abs=0.03)
    assert grouped.clusters(5).labels.tolist() == [0, 0, 1, 1, 2]


def test_made_populations_lose_what_is_accepted():
    losses = {population.name: -population.differences.mean() for population in made(50)}
    assert losses["rare gains"] == pytest.approx(MAX_DROP)
    assert losses["rare losses"] == pytest.approx(MAX_DROP)
    assert losses["sparse, 6 lost"] == pytest.approx(6 / 50)


def test_the_judge_decides_as_the_gate_does(population, monkeypatch):
    monkeypatch.setattr("recallmeter.experiments.studies.calibration.RESAMPLES", 10_000)
    simulated = population.drawn(np.random.default_rng(1), 6, 60, None)
    for row, decision in zip(simulated, judged(simulated, 0.02, Clusters.alone(60)), strict=True):
        assert decision == decide([PairedTest(row, 0.02, ALPHA)], power=POWER)[0]


def test_a_cell_has_what_its_head_says(population):
    row = dict(zip(HEAD, cell(population, 40, 120, 0), strict=True))
    error = 260 * (ALPHA * (1 - ALPHA) / 120) ** 0.5
    assert all(float(row[column]) <= 100 * ALPHA + error for column in HEAD[2:6])
    assert float(row["interval of Δ holds"]) >= 95 - error
    assert cell(Population("still", np.zeros(9)), 20, 10, 0)[2:] == ["–"] * (len(HEAD) - 2)


def test_the_table_is_printed(write_run, capsys):
    better = {f"q{i:02}": ["o39"] for i in range(2, 24, 5)}
    half = {f"q{i:02}": [f"o{i:02}", "o39"] for i in range(0, 24, 3)}
    run = write_run("run", {"before": better, "after": half})
    assert main([f"{run}:before:after", "--pairs", "20", "--sizes", "20"]) == 0
    told = capsys.readouterr().out
    assert "| small recall@10: before → after, exchanged | 20 |" in told
    assert "| small recall@10: before → after, 10 × 0.6 | 20 |" in told
    with pytest.raises(InputError, match="is not RUN:BEFORE:AFTER"):
        main(["somewhere"])
