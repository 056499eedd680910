"""stale@k: whether a memory presents what is no longer true."""

from __future__ import annotations

from collections.abc import Iterator

from ....datasets.errors import InputError
from ..measure import ANY_RANK, Contract
from ..query_measure import QueryMeasure, QueryOutcome


class Stale(QueryMeasure):
    """1 where a superseded observation stands in the first k and its successor below it or not in them.

    Concerned are queries whose answer superseded something that is no answer itself.
    """

    name = "stale"
    meant_by = ("superseded", "outdated", "staleness", "obsolete")
    contract = Contract(
        "1 if a superseded observation stands in the first k and what superseded it below it or not in them, else 0; lower is better",
        "1",
        ANY_RANK,
        "queries whose answer superseded nothing",
    )
    lower_is_better = True
    worst = 1.0
    asks_memory = True

    def value(self, outcome: QueryOutcome) -> float | None:
        """Return 1 or 0; None where the answer superseded nothing.

        Raises:
            InputError: supersession runs in a circle.
        """
        place = {identifier: rank for rank, identifier in enumerate(outcome.ids[: self.k])}
        concerned = False
        for successor in sorted(filter(outcome.existed, outcome.relevant)):
            for old in _ancestors(successor, outcome):
                if old in outcome.relevant:
                    continue
                concerned = True
                if old in place and place[old] < place.get(successor, len(place)):
                    return 1.0
        return 0.0 if concerned else None


def _ancestors(successor: str, outcome: QueryOutcome) -> Iterator[str]:
    """Yield everything that `successor` supersedes, step by step."""
    superseded = {} if outcome.context is None else outcome.context.superseded
    waiting, seen = [successor], {successor}
    while waiting:
        for old in superseded.get(waiting.pop(), ()):
            if old in seen:
                raise InputError(f"{old!r} supersedes itself", where=f"observation {old}", remedy="break the circle of superseded_by")
            seen.add(old)
            waiting.append(old)
            yield old
