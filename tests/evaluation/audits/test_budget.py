"""Recall at equal budget."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recallmeter.evaluation.audits.budget import recall_by_tokens
from recallmeter.evaluation.record import load_run


def test_the_curve_is_as_long_as_the_longest_ranking_whatever_k_is(write_run):
    run = load_run(write_run("run", {"main": {"q00": ["o00", "o39", "o12"], "q01": []}, "mute": {f"q{i:02}": [] for i in range(24)}}))
    deep = replace(run, manifest={**run.manifest, "k": 1000, "tokens_counter": "chars4"})
    tokens, recalls, low, high = recall_by_tokens(deep, "main")
    assert recalls == pytest.approx([(0.5 + 22 * 0.5) / 24, (0.5 + 22) / 24, 23 / 24])
    assert tokens == sorted(tokens)
    assert recall_by_tokens(deep, "mute") == ([], [], [], [])
    assert all(below <= mean <= above for below, mean, above in zip(low, recalls, high, strict=True))
