"""What a winner is worth that was chosen among many, and which others are shown to be worse than it."""

from __future__ import annotations

import numpy as np

from .clusters import Floats

FOLDS, REPEATS = 10, 20
_CELLS = 200_000_000  # of resamples × rows × rows looked at in one call


def winners_worth(values: Floats, *, seed: int = 0) -> float:
    """Return what the best of many rows is worth on queries that it was not chosen on; `values` has shape (rows, queries).

    The mean of the best row is too high by the luck that made it the best. Here the best is chosen on nine tenths of the queries and
    read off the last, for every tenth of `REPEATS` random orders. Source: Stone 1974; for chosen models, Cawley and Talbot, JMLR 2010.
    """
    random, n = np.random.default_rng(seed), values.shape[1]
    folds, total = min(FOLDS, n), 0.0
    for _ in range(REPEATS):
        fold = random.permutation(n) % folds
        sums = np.stack([values[:, fold == part].sum(axis=1) for part in range(folds)], axis=1)
        kept = (sums.sum(axis=1, keepdims=True) - sums) / (n - np.bincount(fold, minlength=folds))
        best = np.abs(kept - kept.max(axis=0)) <= 1e-12  # equally good ones share the place
        total += float(((sums * best).sum(axis=0) / best.sum(axis=0)).sum())
    return total / (REPEATS * n)


def worse_than_best(values: Floats, *, seed: int = 0) -> Floats:
    """Return p of each row being no worse than the best one, shape (rows,), simultaneously over all pairs of rows.

    The best is itself chosen, so each difference is held against the largest, in its own standard errors, that equal rows would show
    between any two of them: the values of a query, less their mean, change sign together. Source: max-T over all pairs (Westfall and
    Young 1993); it holds for the best as Hsu's comparison with the best does (1981), and for each row beside.

    Args:
        values: shape (rows, queries).
    """
    rows, n = values.shape
    centred = values - values.mean(axis=0)
    gram = centred @ centred.T / n**2
    errors = np.sqrt(np.maximum(np.diag(gram)[:, None] + np.diag(gram)[None, :] - 2 * gram, 0))
    errors[errors <= 1e-9] = np.inf  # rows that say the same
    flips = max(200, min(2_000, _CELLS // rows**2))
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), (flips, n))
    flipped, largest = signs @ centred.T / n, np.zeros(flips)
    for row in range(rows):
        np.maximum(largest, ((flipped[:, [row]] - flipped) / errors[row]).max(axis=1), out=largest)
    means = values.mean(axis=1)
    best = int(np.argmax(means))
    behind = (means[best] - means) / errors[best]
    p = (1 + (largest[:, None] >= behind - 1e-9).sum(axis=0)) / (1 + flips)
    return np.where(behind <= 1e-9, 1.0, p)
