"""Settings that a memory system takes from environment variables, as configuration names them.

Configuration passes the variable's text on (``value: ${oc.env:BM25_WEIGHT,null}``), so that a run records what was set.
"""

from __future__ import annotations

import math
from typing import Any


def weight_from_environment(value: object, default: float) -> float:
    """Return an arm's weight, at most 1; `default` when the text is missing, no number, or negative."""
    number = _number(value)
    return default if number is None or number < 0 else min(number, 1.0)


def budget_from_environment(value: object, default: int) -> int:
    """Return a number of tokens; `default` when the text is missing, no number, or below 1."""
    number = _number(value)
    return default if number is None or number < 1 else int(number)


def enabled_from_environment(value: object, part: Any) -> Any:
    """Return the part when the text says true, yes, on or 1, else None, which leaves it out of a pipeline."""
    return part if str(value).strip().lower() in ("true", "yes", "on", "1") else None


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
