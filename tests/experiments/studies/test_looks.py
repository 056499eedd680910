"""The study of many looks: its histories lose what they say, and its gates roll as a baseline does."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.experiments.studies.looks import CREEP, HEAD, KINDS, Kind, gated, row, states


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_history_loses_what_it_says(kind: Kind):
    first, *later = states(kind, 200_000, np.random.default_rng(0))
    assert len(later) == kind.changes
    assert first.mean() - later[-1].mean() == pytest.approx(kind.changes * kind.creep, abs=0.004)


def test_a_sudden_loss_is_the_rolling_baselines_and_a_creep_the_anchors():
    (sudden,) = gated(Kind("sudden", 1, 0.0, 0.2), 200, 1, 1, 1)
    assert (sudden.rolling, sudden.anchor) == (True, 1)
    (creeping,) = gated(Kind("creep", 20, 0.0, CREEP), 400, 1, 1, 1)
    assert not creeping.rolling
    assert creeping.anchor > 1


def test_a_row_is_as_long_as_its_head():
    assert len(row(Kind("short", 2, 0.1, 0.0), 30, 2, 2, 0)) == len(HEAD)
