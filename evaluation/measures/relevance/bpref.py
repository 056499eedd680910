"""bpref: whether what is relevant stands above what was judged not to be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..gains import Seen
from ..measure import Contract, RelevanceMeasure, Values
from ..ties import Groups


class Bpref(RelevanceMeasure):
    """Binary preference, for incomplete judgments. Source: Buckley and Voorhees, SIGIR 2004, as trec_eval computes it."""

    name = "bpref"
    meant_by = ("binary_preference", "preference")
    cutoff = "refused"
    contract = Contract(
        "sum over the relevant observations returned of 1 − min(n, R) / min(N, R); n of the N judged not relevant stand above it",
        "R",
        "ties of relevant with observations judged not relevant move it",
    )

    def formula(self, seen: Seen) -> Values:
        """Return Σ (1 − min(n, R) / min(N, R)) / R."""
        judged = seen.judged
        refuted = judged.grades < self.rel
        above = np.cumsum(refuted) - refuted
        above -= above[np.searchsorted(judged.rows, judged.rows)]
        rows = judged.rows[~refuted]
        return np.bincount(rows, _preferred(above[~refuted], seen, rows), minlength=seen.queries) / np.maximum(seen.relevant, 1)

    def expected(self, groups: Groups, seen: Seen) -> Values:
        """Return the same with n's mean preference: of a group's refuted, 0 to all stand above a relevant one, each as likely."""
        spans = np.where(groups.relevant > 0, groups.refuted + 1, 0)
        group = np.repeat(np.arange(len(spans)), spans)
        nth = np.arange(len(group)) - (np.cumsum(spans) - spans)[group]
        rows = groups.rows[group]
        terms = _preferred(groups.refuted_before[group] + nth, seen, rows) * (groups.relevant / (groups.refuted + 1))[group]
        return np.bincount(rows, terms, minlength=seen.queries) / np.maximum(seen.relevant, 1)


def _preferred(above: NDArray[np.int64], seen: Seen, rows: NDArray[np.int64]) -> Values:
    """Return what a relevant document counts that has so many refuted ones above it."""
    relevant = seen.relevant[rows]
    return 1 - np.minimum(above, relevant) / np.maximum(np.minimum(seen.refuted[rows], relevant), 1)
