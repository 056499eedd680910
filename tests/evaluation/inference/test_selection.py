"""Choosing the best of many: what it is worth, and which others are shown to be worse."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.evaluation.inference.selection import winners_worth, worse_than_best


def equal_rows(rows: int, n: int, random: np.random.Generator) -> np.ndarray:
    return np.clip(random.uniform(0, 1, n) + random.normal(0, 0.25, (rows, n)), 0, 1)


def test_the_best_of_equal_rows_is_worth_what_all_are():
    random, plain, corrected, true = np.random.default_rng(2), [], [], []
    for _ in range(60):
        values = equal_rows(40, 150, random)
        plain.append(values.mean(axis=1).max())
        corrected.append(winners_worth(values))
        true.append(values.mean())
    assert np.mean(plain) - np.mean(true) > 0.03
    assert np.mean(corrected) == pytest.approx(np.mean(true), abs=0.005)


def test_a_best_row_that_stands_out_keeps_its_mean():
    values = np.random.default_rng(3).uniform(0, 0.6, (10, 100))
    values[4] += 0.4
    assert winners_worth(values) == pytest.approx(values[4].mean())


def test_equal_rows_are_rarely_called_worse_than_the_best_of_them():
    random, marked = np.random.default_rng(5), 0
    for number in range(100):
        values = equal_rows(30, 60, random)
        marked += (worse_than_best(values, seed=number) < 0.05).any()
    assert marked / 100 <= 0.05 + 2.6 * (0.05 * 0.95 / 100) ** 0.5


def test_what_is_worse_is_shown_and_what_ties_is_not():
    random = np.random.default_rng(6)
    values = equal_rows(8, 300, random)
    values[3] -= 0.3
    values[5] = values[4]
    p = worse_than_best(values)
    assert p[3] < 0.01
    assert p[np.argmax(values.mean(axis=1))] == 1.0
    assert p[4] == p[5]
    twins = np.stack([values[0], values[0], values[0] - 0.01])
    assert worse_than_best(twins).tolist() == [1.0, 1.0, pytest.approx(1 / 2001)]
