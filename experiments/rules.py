"""The rules of a gate: packaged ones by name, those of a file, and what a call changes of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..datasets.errors import InputError
from ..evaluation.judging.baseline import Baseline, baseline_of, read_baseline
from ..evaluation.judging.rules import Handling, Rules, read_rules, rules_from
from ..evaluation.record import load_run
from .paths import CONF

MAX_DROP = 2.0
"""The margin of a measure that is named on the command line without one, in percentage points."""


def packaged() -> list[str]:
    """Return the names of the packaged rules."""
    return sorted(path.stem for path in (CONF / "gate").glob("*.yaml"))


def rules_named(name: str) -> dict[str, Any]:
    """Read packaged rules by name, or a YAML file.

    Raises:
        InputError: there is neither, or it cannot be read.
    """
    path = CONF / "gate" / f"{name}.yaml" if name in packaged() else Path(name)
    if not path.is_file():
        raise InputError(f"there are no rules {name!r}", where="--rules", remedy=f"name {', '.join(packaged())} or a YAML file")
    return read_rules(path)


def changed(
    settings: Mapping[str, Any],
    *,
    max_drop: float | None = None,
    measures: list[str] | None = None,
    floors: list[str] | None = None,
    alpha: float | None = None,
    looks: int | None = None,
    on_inconclusive: Handling | None = None,
    on_shown_loss: Handling | None = None,
    systems: list[str] | None = None,
    p95_latency: float | None = None,
    tokens: float | None = None,
) -> Rules:
    """Make rules from settings and what overrides them; None leaves a setting as it is.

    Raises:
        InputError: a value out of range, or a floor that cannot be read.
    """
    rules = {name: rule if rule is None else dict(rule) for name, rule in dict(settings.get("rules") or {}).items()}
    if measures:
        rules = {measure: {"measure": measure, "max_drop": MAX_DROP} for measure in measures}
    if max_drop is not None:
        rules = {name: {**rule, "max_drop": max_drop} for name, rule in rules.items() if rule is not None}
    handled = {"on_inconclusive": on_inconclusive, "on_shown_loss": on_shown_loss}
    handled = {name: handling for name, handling in handled.items() if handling is not None}
    rules = {name: rule if rule is None else {**rule, **handled} for name, rule in rules.items()}
    for floor in floors or ():
        measure, _, percent = floor.rpartition("=")
        try:
            rules[f"floor of {measure}"] = {"measure": measure, "floor": float(percent)}
        except ValueError as error:
            raise InputError(f"{floor!r} is not MEASURE=PERCENT", where="--floor", remedy="write --floor recall@10=60") from error
    given = {"alpha": alpha, "looks": looks, **handled, "systems": systems, "p95_latency": p95_latency, "tokens": tokens}
    return rules_from({**settings, "rules": rules, **{name: value for name, value in given.items() if value is not None}})


def load_baseline(path: str | Path) -> Baseline:
    """Read a baseline from its file, or take it from a run directory."""
    return baseline_of(load_run(path)) if Path(path).is_dir() else read_baseline(path)
