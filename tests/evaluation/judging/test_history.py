"""Where a series of measurements steps to another level."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.judging.history import change_points, histories, moment_of
from recallmeter.evaluation.record import load_run


@pytest.mark.parametrize(
    ("means", "steps"),
    [
        ([0.7], []),
        ([0.7] * 8, []),
        ([0.7] * 4 + [0.6] * 4, [4]),
        ([0.7] * 3 + [0.6] * 3 + [0.8] * 3, [3, 6]),
        ([0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.69999999, 0.7], []),
        ([0.7] * 5 + [0.5] + [0.7] * 5, [5, 6]),
    ],
)
def test_steps_of_levels_that_are_plain_to_see(means: list[float], steps: list[int]) -> None:
    assert change_points(means) == steps


def test_noise_alone_makes_few_steps_and_a_step_in_noise_is_found() -> None:
    chance = np.random.default_rng(0)
    noisy = [change_points(0.7 + chance.normal(0, 0.005, 30)) for _ in range(200)]
    assert sum(bool(steps) for steps in noisy) <= 20
    found = [change_points(0.7 + np.repeat([0.0, -0.03], 15) + chance.normal(0, 0.005, 30)) for _ in range(50)]
    assert sum(any(abs(at - 15) <= 1 for at in steps) for steps in found) >= 48


def dated(load, when: str):
    return moment_of(type(load)(load.path, {**load.manifest, "started": when}, load.summary))


def test_a_step_is_told_with_its_queries_and_the_anchor_is_the_oldest(write_run) -> None:
    lost = {f"q{n:02}": [] for n in range(8)}
    runs = [load_run(write_run(f"r{n}", {"main": {} if n < 4 else lost})) for n in range(8)]
    moments = [dated(run, f"2026-01-{9 - n:02}") for n, run in zip(range(8, 0, -1), runs, strict=True)]
    (history,) = histories(moments, ["recall@10"])
    assert [moment.label for moment in history.moments] == [f"r{n}" for n in range(8)]
    assert [(step.at, round(step.before, 3), round(step.after, 3)) for step in history.steps] == [(4, 1.0, 0.667)]
    assert history.steps[0].difference is not None
    assert history.steps[0].difference.losses == 8
    assert history.anchor == 0
    assert histories(moments, ["recall@10"], anchor="r3")[0].anchor == 3


def test_what_has_no_history_is_refused(write_run) -> None:
    first, second = (moment_of(load_run(write_run(name, {"main": {}}))) for name in ("a", "b"))
    with pytest.raises(InputError, match="at least two runs"):
        histories([first], ["recall@10"])
    with pytest.raises(InputError, match="no run 'c'"):
        histories([first, second], ["recall@10"], anchor="c")
    with pytest.raises(InputError, match="no system has these measures"):
        histories([first, second], ["recall@11"])
