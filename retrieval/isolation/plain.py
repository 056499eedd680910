"""What a retriever gives, as plain values: nothing of its own classes goes further, and what can't be read is its failure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import islice
from typing import Any

from ...datasets.errors import InputError
from ..external.failure import RelayedError
from ..ranking import Hit, Ranking
from ..trace import ArmTrace, Trace

_MOST_HITS = 1_000_000
_LONGEST = 500


def plain_ranking(answer: Any) -> Ranking:
    """Read what a search returned: a `Ranking`, or (id, score) pairs best first.

    Raises:
        InputError: it is neither, or its trace is none.
    """
    try:
        given = answer.hits if isinstance(answer, Ranking) else answer
        hits = tuple(_hit(hit) for hit in islice(given, _MOST_HITS))
    except TypeError as error:
        raise InputError(f"an answer of the type {type(answer).__name__} is no ranking ({told(error)})", remedy=_ANSWER) from None
    trace = answer.trace if isinstance(answer, Ranking) else None
    return Ranking(hits, None if trace is None else _trace(trace))


_ANSWER = "return (id, score) pairs, best first"


def plain_report(report: Any) -> dict[str, Any]:
    """Read what a retriever has to say of itself.

    Raises:
        InputError: it is no mapping that JSON can hold.
    """
    try:
        plain = json.loads(json.dumps(report, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"report() gave what is not JSON ({told(error)})", remedy="return a dict of texts, numbers, lists and dicts"
        ) from None
    if not isinstance(plain, dict):
        raise InputError(f"report() gave {type(report).__name__}", remedy="return a dict")
    return plain


def told(error: BaseException) -> str:
    """Return an error in one printable line, with its kind unless it is one of ours; one whose text can't be had is told by its kind."""
    kind = type.__getattribute__(type(error), "__name__")
    try:
        line = " ".join(str.split(f"{error}"))[:_LONGEST] or "no message"
    except BaseException as other:
        line = f"its message can't be had ({type.__getattribute__(type(other), '__name__')})"
    line = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in line)
    return line if isinstance(error, InputError | RelayedError) else f"{kind}: {line}"


def _hit(hit: Any) -> Hit:
    identifier, score = hit
    try:
        return Hit(_text(identifier), float(score))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{_short(hit)} is no id with a score ({told(error)})", remedy=_ANSWER) from None


def _trace(trace: Any) -> Trace:
    try:
        arms = {_text(name): ArmTrace(tuple(map(_text, arm.ids)), tuple(map(_number, arm.scores))) for name, arm in trace.arms.items()}
        return Trace(
            {_text(name): _number(ms) for name, ms in trace.spans.items()},
            arms,
            {_text(stage): tuple(map(_text, ids)) for stage, ids in trace.dropped.items()},
            [_text(note) for note in trace.notes],
        )
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"the trace can't be read ({told(error)})", remedy="leave it out, or fill a recallmeter.Trace") from None


def _number(value: Any) -> float:
    number = float(value) if not isinstance(value, str) else math.nan
    if not math.isfinite(number):
        raise ValueError(f"{_short(value)} is no finite number")
    return number


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{_short(value)} is no text")
    return str.__add__(value, "")  # of a class derived from str the text alone


def _short(value: Any) -> str:
    try:
        return f"{value!r}"[:80]
    except BaseException:
        return f"a value of the type {type.__getattribute__(type(value), '__name__')}"


def as_record(ranking: Ranking) -> Mapping[str, Any]:
    """Return a plain ranking as JSON-ready values."""
    trace = ranking.trace
    return {
        "hits": list(ranking.hits),
        "trace": None
        if trace is None
        else {
            "spans": trace.spans,
            "arms": {name: [arm.ids, arm.scores] for name, arm in trace.arms.items()},
            "dropped": trace.dropped,
            "notes": trace.notes,
        },
    }


def from_record(record: Mapping[str, Any]) -> Ranking:
    """Return the ranking that `as_record` wrote.

    Raises:
        InputError: it is none.
    """
    try:
        trace = record["trace"]
        arms = {} if trace is None else {name: ArmTrace(tuple(ids), tuple(scores)) for name, (ids, scores) in trace["arms"].items()}
        return plain_ranking(
            Ranking(
                tuple(Hit(*hit) for hit in record["hits"]),
                None if trace is None else Trace(trace["spans"], arms, trace["dropped"], trace["notes"]),
            )
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"no answer can be read ({told(error)})") from None
