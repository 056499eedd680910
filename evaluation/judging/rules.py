"""What a gate asks of a run: rules on measures, and bars on time and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from ...datasets.errors import InputError
from ...datasets.yaml_file import read_yaml
from ..measures.grammar import measure_of

Handling = Literal["fail", "warn", "pass"]

HANDLINGS = ("on_inconclusive", "on_shown_loss")

EVERY = "*"
"""As a rule's category: one rule for each."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What one measure must hold.

    Args:
        measure: such as ``recall@10``.
        category: look at this category alone; ``*`` makes a rule of each; "" takes all queries together.
        max_drop: the drop that is still accepted, in percentage points, or the rise where lower is better; None asks for no comparison.
        floor: the least mean, in per cent; None for none.
        alpha: a level stricter than the gate's own; None takes the gate's.
        on_inconclusive, on_shown_loss: what to do then, if not what the gate does.

    Raises:
        InputError: a number out of range, an unknown measure, or nothing to hold.
    """

    measure: str
    category: str = ""
    max_drop: float | None = None
    floor: float | None = None
    alpha: float | None = None
    on_inconclusive: Handling | None = None
    on_shown_loss: Handling | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", str(measure_of(self.measure, "measure")))
        if self.max_drop is None and self.floor is None:
            raise InputError(f"the rule on {self.measure} holds nothing", remedy="give it max_drop or floor")
        if self.floor is not None and measure_of(self.measure, "measure").lower_is_better:
            raise InputError(
                f"a floor is not for {self.measure}, where lower is better", remedy="give it max_drop, the rise that is accepted"
            )
        _check_number("max_drop", self.max_drop, 0, 100)
        _check_number("floor", self.floor, 0, 100)
        if self.floor is not None and 0 < self.floor <= 1:
            raise InputError(f"floor {self.floor} is in per cent", remedy=f"write {100 * self.floor:g} if that share is meant")
        _check_probability("alpha", self.alpha)
        for name in HANDLINGS:
            if (handling := getattr(self, name)) is not None:
                _check_handling(name, handling)

    @property
    def name(self) -> str:
        """Measure and category, as reports write them."""
        return f"{self.measure} · {self.category}" if self.category else self.measure

    @property
    def margin(self) -> float | None:
        """`max_drop` as a share."""
        return None if self.max_drop is None else self.max_drop / 100


@dataclass(frozen=True, kw_only=True)
class Rules:
    """All that a gate asks.

    Args:
        rules: name → rule; one set to None is switched off.
        systems: which systems of the baseline; empty for all.
        alpha: the chance that the whole gate says REGRESSION, or shows any loss, where there is none such.
        looks: over how many gates of one baseline that chance is to hold; each is given its share of alpha.
        power: the chance of catching the drop that is stated as detectable.
        on_inconclusive: what to do where neither verdict is reached: ``fail`` (exit 3), ``warn`` (exit 0, said aloud) or ``pass``.
        on_shown_loss: what to do instead where a loss is shown, but not that it is larger than what is accepted.
        p95_latency: the most that the p95 of a query may take, in times the run's own calibration loop; None for no bar.
        tokens: the most tokens a query may cost on average; None for no bar.

    Raises:
        InputError: a number out of range, no rule at all, or a rule laxer than the gate.
    """

    rules: Mapping[str, Rule | None] = field(default_factory=dict)
    systems: Sequence[str] = ()
    alpha: float = 0.05
    power: float = 0.8
    looks: int = 1
    on_inconclusive: Handling = "warn"
    on_shown_loss: Handling = "fail"
    p95_latency: float | None = None
    tokens: float | None = None

    def __post_init__(self) -> None:
        if not any(self.rules.values()):
            raise InputError("the gate has no rule", where="rules", remedy="give it one: {recall: {measure: recall@10, max_drop: 2}}")
        for name in ("alpha", "power"):
            _check_probability(name, getattr(self, name))
        for name in ("p95_latency", "tokens"):
            _check_number(name, getattr(self, name), 0, 1e9)
        for name in HANDLINGS:
            _check_handling(name, getattr(self, name))
        if isinstance(self.looks, bool) or not isinstance(self.looks, int) or self.looks < 1:
            raise InputError(f"looks {self.looks!r} is not a whole number of at least 1")
        for name, rule in self.rules.items():
            if rule is not None and (rule.alpha or 0) > self.alpha:
                raise InputError(
                    f"alpha {rule.alpha} is above the gate's {self.alpha}", where=f"rules.{name}", remedy="a rule can only be stricter"
                )

    def level(self, rule: Rule) -> float:
        """Return the level of one look at a rule: its alpha, or the gate's, over the looks (Bonferroni, whatever they have in common)."""
        return (rule.alpha or self.alpha) / self.looks

    def handling(self, rule: Rule, *, loss_shown: bool) -> Handling:
        """Return what to do where the rule is inconclusive, with a loss shown or without."""
        if loss_shown:
            return rule.on_shown_loss or self.on_shown_loss
        return rule.on_inconclusive or self.on_inconclusive


_Settings = TypeVar("_Settings", Rule, Rules)


def read_rules(path: Path) -> dict[str, Any]:
    """Read the settings of a gate from YAML, as `rules_from` takes them.

    Raises:
        InputError: no such file, or not a YAML mapping.
    """
    settings = read_yaml(path, "the file of rules", remedy="name a YAML file")
    if not isinstance(settings, dict):
        raise InputError("not a YAML mapping", where=str(path), remedy="see conf/gate/default.yaml")
    _check_rules(settings.get("rules"), str(path))
    return settings


def rules_from(settings: Mapping[str, Any], where: str = "gate") -> Rules:
    """Make rules from plain settings.

    Raises:
        InputError: an unknown key, a missing one or a value out of range; the key is named.
    """
    given = dict(settings)
    rules: dict[str, Rule | None] = {}
    listed = given.pop("rules", None) or {}
    _check_rules(listed, where)
    for name, rule in listed.items():
        rules[name] = None if rule is None else _made(Rule, rule, f"{where}: rules.{name}")
    return _made(Rules, {**given, "rules": rules}, where)


def _check_rules(rules: Any, where: str) -> None:
    remedy = "write rules as {recall: {measure: recall@10, max_drop: 2}}"
    if not isinstance(rules, Mapping | None):
        raise InputError(f"{rules!r} is no mapping of names to rules", where=f"{where}: rules", remedy=remedy)
    for name, rule in (rules or {}).items():
        if not isinstance(rule, Mapping | None):
            raise InputError(f"{rule!r} is not a mapping", where=f"{where}: rules.{name}", remedy=remedy)


def _made(kind: type[_Settings], settings: Any, where: str) -> _Settings:
    known = [f.name for f in fields(kind)]
    if not isinstance(settings, Mapping):
        raise InputError(f"{settings!r} is not a mapping", where=where, remedy=f"there are {', '.join(known)}")
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise InputError(f"there is no setting {unknown[0]!r}", where=where, remedy=f"there are {', '.join(known)}")
    try:
        return kind(**settings)
    except InputError as error:
        raise error.at(f"{where}: {error.where}" if error.where else where) from error
    except TypeError as error:
        raise InputError("it names no measure", where=where, remedy="add measure: recall@10") from error


def _check_number(name: str, value: Any, least: float, most: float) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InputError(f"{name} {value!r} is not a number from {least:g} to {most:g}")


def _check_probability(name: str, value: Any) -> None:
    _check_number(name, value, 0, 1)
    if value in (0, 1):
        raise InputError(f"{name} {value!r} leaves nothing to chance", remedy="give a number between 0 and 1")


def _check_handling(name: str, value: Any) -> None:
    if value not in get_args(Handling):
        raise InputError(f"{name} {value!r} is unknown", remedy="write fail, warn or pass")
