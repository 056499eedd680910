"""The grammar of measures: what can be asked for, by which names, and how each is written."""

from __future__ import annotations

import os
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ...datasets.errors import InputError
from .measure import Measure

_ROOMS = ("relevance", "memory")
_WRITTEN = re.compile(r"(?P<name>[\w.-]+?)(?:\((?P<options>[^()]*)\))?(?:@(?P<k>\d+))?(?:-l(?P<rel>\d+))?")
_TREC_EVAL = re.compile(r"(?P<name>\w+?)(?:_cut)?[_.](?P<k>\d+)")


@cache
def known_measures() -> tuple[type[Measure], ...]:
    """Return every measure of this package: those defined in the modules of this room's folders, by folder, then by name."""
    found = []
    for room in _ROOMS:
        modules = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent / room)]))
        homes = [import_module(f".{room}.{module}", __package__) for module in modules]
        kinds = [kind for home in homes for kind in vars(home).values() if isinstance(kind, type) and kind.__module__ == home.__name__]
        found += sorted((kind for kind in kinds if issubclass(kind, Measure) and kind.name), key=lambda kind: kind.name)
    return tuple(found)


@cache
def _names() -> Mapping[str, type[Measure]]:
    return {alias: kind for kind in known_measures() for alias in (kind.name, *kind.aliases)}


@cache
def _variants() -> Mapping[str, tuple[type[Measure], Mapping[str, Any]]]:
    return {name: (kind, given) for kind in known_measures() for name, given in kind.variants.items()}


def parse_measure(text: str) -> Measure:
    """Read a measure as people write it: ``ndcg@10``, ``nDCG(dcg='exp-log2')@10``, ``P(rel=2)@5``, ``ndcg_cut_10``, ``hit@5``, ``RR``.

    Upper and lower case are alike; the names of ir_measures, trec_eval and ranx are accepted beside ours. A measure of the user's own
    is named by the place that its class is imported from: ``my_module.MyMeasure@5``.

    Raises:
        InputError: it cannot be read, with what exists and the name that is nearest in meaning.
    """
    text = text.strip()
    try:
        for kind, given, options in _readings(text):
            return kind(**given, **_parameters(kind, options))
    except InputError as error:
        raise error.at(f"measure {text}") from None
    raise _unknown(text)


def measure_of(value: Any, where: str) -> Measure:
    """Return a measure given as text, or as the object that a ``_target_`` has made.

    Raises:
        InputError: as `parse_measure`, or the object is no measure.
    """
    if isinstance(value, Measure):
        return value
    if not isinstance(value, str):
        raise InputError(f"{value!r} is no measure", where=where, remedy="name one, such as recall@10, or the _target_ of a Measure")
    return parse_measure(value)


def direction(measure: str) -> int:
    """Return 1 where higher is better, −1 where lower is; what only claims know, such as tokens, counts upwards."""
    try:
        return -1 if parse_measure(measure).lower_is_better else 1
    except InputError:
        return 1


def with_threshold(measure: Measure, rel: int) -> Measure:
    """Return a measure to which a document is relevant from grade `rel` on, if that can be set and was not."""
    return replace(measure, rel=rel) if getattr(measure, "rel", None) == 1 else measure


def _readings(text: str) -> Iterator[tuple[type[Measure], dict[str, Any], list[tuple[str, str]]]]:
    """Yield the ways in which a text can be read: class, parameters, and options as written."""
    written = _WRITTEN.fullmatch(text)
    if written is None:
        return
    options = [
        (key.strip(), value.strip().strip("'\""))
        for key, _, value in (part.partition("=") for part in filter(str.strip, (written["options"] or "").split(",")))
    ]
    options += [("rel", written["rel"])] if written["rel"] else []
    k = {"k": int(written["k"])} if written["k"] else {}
    name = written["name"].lower().replace("-", "_")
    if kind := _names().get(name):
        yield kind, k, options
    if name in _variants():
        kind, given = _variants()[name]
        yield kind, {**given, **k}, options
    cut = _TREC_EVAL.fullmatch(name)
    if cut and not k and (kind := _names().get(cut["name"])):
        yield kind, kind.from_digits(cut["k"]), options
    if "." in written["name"] and (kind := _foreign(written["name"])):
        yield kind, k, options


def _foreign(place: str) -> type[Measure] | None:
    """Return the measure that can be imported from a place, if there is one."""
    module, _, name = place.rpartition(".")
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)  # as ``_target_`` finds a module beside the call
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return None
    return kind if isinstance(kind, type) and issubclass(kind, Measure) else None


def _parameters(kind: type[Measure], options: Sequence[tuple[str, str]]) -> dict[str, Any]:
    defaults = {field.name: field.default for field in fields(kind) if field.name != "k"}
    given = {}
    for key, value in options:
        name, read = kind.options.get(key, (key, str))
        try:
            given[name] = _converted(read(value), defaults[name])
        except (KeyError, ValueError):
            there = ", ".join(f"{name}={_SHOWN[type(default)]}" for name, default in defaults.items())
            raise InputError(f"option '{key}={value}' is not known", remedy=f"there are {there}" if there else "it takes none") from None
    return given


_SHOWN: Mapping[type, str] = {int: "NUMBER", float: "NUMBER", bool: "true", str: "NAME"}


def _converted(value: Any, default: Any) -> Any:
    """Return an option in the type of its parameter."""
    if isinstance(default, bool):
        return {"true": True, "false": False}[str(value).lower()]
    return type(default)(value)


def _unknown(text: str) -> InputError:
    """Say what there is, and what is nearest in meaning: the measure that the word stands for elsewhere, else one spelt much like it."""
    from difflib import get_close_matches

    meant = {word: kind for kind in known_measures() for word in kind.meant_by}
    word = re.split(r"[@(\s]", text.lower().replace("-", "_"), maxsplit=1)[0]
    word = re.sub(r"(_cut)?[_.]\d+$", "", word)
    near = [word] if word in meant else get_close_matches(word, {**meant, **_names()}, 1, cutoff=0.7)
    hint = ""
    if near:
        kind = {**_names(), **meant}[near[0]]
        hint = f"did you mean {kind.form()}{', also called ' if kind.aliases else ''}{' or '.join(kind.aliases)}? "
    return InputError(f"there is no measure {text!r}", remedy=f"{hint}there are {', '.join(kind.form() for kind in known_measures())}")


DEFAULT_MEASURES = tuple(
    map(
        parse_measure,
        (
            *(f"{name}@{k}" for name in ("recall", "recall_any", "recall_all") for k in (5, 10)),
            *("precision@5", "ndcg@10", "mrr", "map"),
        ),
    )
)
"""The measures of a run's per-query table, in the order of its columns."""
