"""The grammar of measures: what can be asked for, by which names, and how each is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from ...datasets.errors import InputError


class _Form(NamedTuple):
    """How a measure may be written: whether it needs, allows or refuses a cut-off, and its other names in lower case."""

    cutoff: str
    aliases: tuple[str, ...] = ()


_FORMS = {
    "recall": _Form("needed", ("r",)),
    "recall_any": _Form("needed", ("hit_rate", "success")),
    "recall_all": _Form("needed"),
    "precision": _Form("needed", ("p",)),
    "ndcg": _Form("allowed"),
    "mrr": _Form("allowed", ("rr",)),
    "map": _Form("allowed", ("ap",)),
    "r_precision": _Form("refused", ("rprec",)),
    "ndcg_longmemeval": _Form("needed"),
}
_NAMES = {alias: name for name, form in _FORMS.items() for alias in (name, *form.aliases)}
_GAINS = {"linear": "linear", "log2": "linear", "exp": "exp", "exp-log2": "exp"}
_SUFFIX = {"needed": "@k", "allowed": "[@k]", "refused": ""}
_WRITTEN = re.compile(r"(?P<name>\w+)(?:\((?P<options>[^()]*)\))?(?:@(?P<k>\d+))?")

MEASURE_NAMES = tuple(_FORMS)
"""The canonical names, without cut-off and options."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One way to score a ranking; ``str()`` gives the canonical name, which `parse_measure` reads back.

    Attributes:
        name: one of `MEASURE_NAMES`.
        k: the cut-off; None for the whole list.
        rel: a document is relevant from this grade on; below it, it gains nothing.
        gain: ``linear`` (the grade) or ``exp`` (2^grade − 1); ndcg alone takes it.

    Raises:
        InputError: no such measure, a cut-off that it needs or refuses, or an option out of range.
    """

    name: str
    k: int | None = None
    rel: int = 1
    gain: str = "linear"

    def __post_init__(self) -> None:
        form = _FORMS.get(self.name)
        if form is None:
            raise _unknown(self.name, self.name)
        if form.cutoff == "needed" and self.k is None:
            raise InputError(f"measure {self.name!r} needs a cut-off", remedy=f"write {self.name}@10")
        if form.cutoff == "refused" and self.k is not None:
            raise InputError(f"measure {self.name!r} takes no cut-off", remedy=f"write {self.name}")
        if self.k is not None and self.k < 1:
            raise InputError(f"cut-off {self.k} of {self.name!r} is below 1")
        if self.rel < 1:
            raise InputError(f"rel={self.rel} of {self.name!r} is below 1", remedy="a relevant document has grade 1 or more")
        if self.gain not in ("linear", "exp") or (self.gain != "linear" and self.name != "ndcg"):
            raise InputError(f"gain={self.gain} is not for {self.name!r}", remedy="ndcg takes gain=linear or gain=exp")

    def __str__(self) -> str:
        options = [f"rel={self.rel}"] * (self.rel != 1) + [f"gain={self.gain}"] * (self.gain != "linear")
        return self.name + (f"({','.join(options)})" if options else "") + (f"@{self.k}" if self.k is not None else "")


def parse_measure(text: str) -> Measure:
    """Read a measure as people write it: ``ndcg@10``, ``nDCG(dcg='exp-log2')@10``, ``R@5``, ``P(rel=2)@5``, ``RR``.

    Upper and lower case are alike; the names of ir_measures are accepted beside ours.

    Raises:
        InputError: it cannot be read, with what exists and the nearest name.
    """
    written = _WRITTEN.fullmatch(text.strip())
    name = _NAMES.get(written["name"].lower()) if written else None
    if written is None or name is None:
        raise _unknown(text, written["name"] if written else re.split(r"\W", text.strip())[0])
    rel, gain = 1, "linear"
    for option in filter(None, (written["options"] or "").split(",")):
        key, _, value = (part.strip().strip("'\"") for part in option.partition("="))
        if key == "rel" and value.isdecimal():
            rel = int(value)
        elif key in ("gain", "dcg") and value in _GAINS:
            gain = _GAINS[value]
        else:
            raise InputError(
                f"option {option.strip()!r} is not known", where=f"measure {text}", remedy="there are rel=GRADE, gain=linear and gain=exp"
            )
    try:
        return Measure(name, int(written["k"]) if written["k"] else None, rel, gain)
    except InputError as error:
        raise error.at(f"measure {text}") from None


def _unknown(text: str, name: str) -> InputError:
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), _NAMES, 1)
    hint = f"did you mean {_NAMES[near[0]]}{_SUFFIX[_FORMS[_NAMES[near[0]]].cutoff]}? " if near else ""
    known = ", ".join(f"{name}{_SUFFIX[form.cutoff]}" for name, form in _FORMS.items())
    return InputError(f"there is no measure {text!r}", remedy=f"{hint}there are {known}")


DEFAULT_MEASURES = (
    *(Measure(name, k) for name in ("recall", "recall_any", "recall_all") for k in (5, 10)),
    Measure("precision", 5),
    Measure("ndcg", 10),
    Measure("mrr"),
    Measure("map"),
)
"""The measures of a run's per-query table, in the order of its columns."""
