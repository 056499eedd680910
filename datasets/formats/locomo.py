"""LoCoMo: questions about long conversations, with the turns that answer them.

Source: Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM Agents, ACL 2024; the schema is that of
``locomo10.json``. Its evidence is written by hand: what is clear is read, and every departure is reported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..errors import InputError
from ..faults import BAD_VALUE, FIELD_NOT_READ, Faults, Kind, Placed, Severity
from ..model import Dataset, Observation, Query
from ..reading import read_array, source_name

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""The file's category numbers by name, as the authors' own scoring code uses them; the paper lists the names in another order."""

ADVERSARIAL = ("unanswerable", "answerable")

SEVERAL = Kind("evidence-several-in-one", Severity.WARNING, "nothing: each is read; one turn a string is the schema")
PADDED = Kind("evidence-zero-padded", Severity.WARNING, "nothing: read without the zeros")
EXTRA_COLON = Kind("evidence-extra-colon", Severity.WARNING, "nothing: read as D11:26 where D:11:26 is written")
UNREADABLE = Kind("evidence-unreadable", Severity.WARNING, "name the turn in an errata file; until then the gold counts as out of reach")
NO_EVIDENCE = Kind("evidence-missing", Severity.WARNING, "name the turns in an errata file; until then the gold counts as out of reach")

_SESSION = re.compile(r"session_(\d+)")
_BESIDE_SESSIONS = re.compile(r"speaker_[ab]|session_\d+_date_time")
_EVIDENCE = re.compile(r"D(:?)(\d{1,6}):(\d{1,6})")
_BETWEEN = re.compile(r"[\s;,()\[\]]+")
_DATE = re.compile(r"(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) (\w+),? (\d{4})", re.IGNORECASE)
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")


def load_locomo(path: str, errata: str | None = None, adversarial: str = "unanswerable") -> Dataset:
    """Load a LoCoMo file: every conversation is a scope and a group of questions, every turn an observation of one text,
    ``speaker: what was said [shared image: its caption]``.

    The categories are named as in `CATEGORIES`; a question of category 5 is unanswerable, unless `adversarial` says
    otherwise. Gold that cannot be told from
    the evidence is judged under an id that no turn has, so that it lowers the ceiling and nobody takes the question for
    an unanswerable one.

    Args:
        path: the JSON file, plain or gzip.
        errata: a file of corrections to lay over the labels.
        adversarial: ``answerable`` judges the questions of category 5 by the turns that their evidence names, as published
            retrieval figures do; ``unanswerable`` takes them for questions that nothing answers.

    Raises:
        InputError: anything that `read_locomo` reports as an error, or another word for `adversarial`.
    """
    if adversarial not in ADVERSARIAL:
        raise InputError(f"{adversarial!r} is neither of {' and '.join(ADVERSARIAL)}", where="dataset.adversarial", remedy="choose one")
    source = Path(path)
    read = load(lambda faults: read_locomo(source, faults, adversarial), name=source_name(source), licence="CC-BY-NC-4.0")
    return corrected(read, errata)


def read_locomo(path: Path, faults: Faults, adversarial: str = "unanswerable") -> Iterator[Placed]:
    """Yield the records of one conversation after the other."""
    for where, raw in read_array(path, faults):
        values = _SAMPLE.parse(raw, where, faults)
        if values is None:
            continue
        scope = sys.intern(values["sample_id"])
        where = f"{path}: {scope}"
        known = set()
        for where_turn, turn in _turns(values["conversation"], scope, where, faults):
            known.add(turn.id.removeprefix(f"{scope}/"))
            yield Placed(where_turn, turn)
        for number, raw_question in enumerate(values["qa"], start=1):
            place = f"{where}, question {number}"
            yield from _question(raw_question, f"{scope}/q{number:03d}", scope, known, place, faults, adversarial)


def _turns(conversation: dict[str, Any], scope: str, where: str, faults: Faults) -> Iterator[tuple[str, Observation]]:
    for key, session in conversation.items():
        if not (match := _SESSION.fullmatch(key)):
            if not _BESIDE_SESSIONS.fullmatch(key):
                faults.report(FIELD_NOT_READ, where, f"the field {key!r} is no session")
            continue
        date = _DATED.parse({"date": conversation.get(f"{key}_date_time")}, f"{where}, {key}_date_time", faults)
        if not isinstance(session, list):
            faults.report(BAD_VALUE, f"{where}, {key}", "a session is a list of turns")
            continue
        for number, raw in enumerate(session if date else (), start=1):
            place = f"{where}, {key}, turn {number}"
            if not isinstance(raw, dict):
                faults.report(BAD_VALUE, place, "a turn is an object")
                continue
            turn = _TURN.parse(raw, place, faults)
            if date and turn:
                values = {
                    "id": f"{scope}/{turn['dia_id']}",
                    "session_id": sys.intern(f"{scope}/{match.group()}"),
                    "timestamp": date["date"],
                    "type": "turn",
                    "title": "",
                    "narrative": _said(turn),
                    "scope": scope,
                }
                if observation := fields.construct(Observation, values, place, faults):
                    yield place, observation


def _said(turn: Mapping[str, Any]) -> str:
    """Return a turn as it reads in a transcript; a picture is known by its caption alone."""
    caption = turn.get("blip_caption", "")
    return f"{turn['speaker']}: {turn['text']}" + (f" [shared image: {caption}]" if caption else "")


def _question(raw: Any, identifier: str, scope: str, known: set[str], where: str, faults: Faults, adversarial: str) -> Iterator[Placed]:
    if not isinstance(raw, dict):
        faults.report(BAD_VALUE, where, "a question is an object")
        return
    values = _QUESTION.parse(raw, where, faults)
    if not values:
        return
    category = CATEGORIES[values["category"]]
    asked = {"id": identifier, "text": values["question"], "category": category, "scope": scope, "group": scope}
    query = fields.construct(Query, asked, where, faults)
    if query is None:
        return
    yield Placed(where, query)
    turns = dict.fromkeys(_evidence(values.get("evidence", ()), known, where, faults))
    if category == "adversarial" and (adversarial == "unanswerable" or not turns):
        return
    if not turns:
        faults.report(NO_EVIDENCE, where, "no evidence is given")
    for turn in turns or ("no-evidence",):
        yield from fields.judge(identifier, f"{scope}/{turn}", 1, where, faults)


def _evidence(written: tuple[str, ...], known: set[str], where: str, faults: Faults) -> Iterator[str]:
    """Yield the turns that a question's evidence names, and a name that no turn has for each that cannot be read."""
    for text in written:
        parts = [part for part in _BETWEEN.split(text) if part]
        if len(parts) > 1:
            faults.report(SEVERAL, where, f"{text!r} names {len(parts)} turns")
        for part in parts:
            if part in known:
                yield part
            elif match := _EVIDENCE.fullmatch(part):
                turn = f"D{int(match[2])}:{int(match[3])}"
                if match[1]:
                    faults.report(EXTRA_COLON, where, f"{part!r} is read as {turn!r}")
                if part.replace("D:", "D") != turn:
                    faults.report(PADDED, where, f"{part!r} is read as {turn!r}")
                yield turn
            else:
                faults.report(UNREADABLE, where, f"{part!r} names no turn")
                yield "unreadable:" + quote(part, errors="replace")


def _date(value: Any) -> datetime:
    match = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[5].lower() not in _MONTHS:
        raise ValueError("a date such as '1:56 pm on 8 May, 2023' is needed")
    hour = int(match[1]) % 12 + 12 * (match[3].lower() == "pm")
    return datetime(int(match[6]), _MONTHS.index(match[5].lower()) + 1, int(match[4]), hour, int(match[2]), tzinfo=UTC)


def _conversation(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an object of sessions is needed")
    return value


def _category(value: Any) -> int:
    if fields.whole(value) not in CATEGORIES:
        raise ValueError("a category is 1 to 5")
    return value


def _written(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else fields.texts(value)


_SAMPLE = fields.Shape(
    {"sample_id": fields.text, "conversation": _conversation, "qa": fields.items}, frozenset({"sample_id", "conversation", "qa"})
)
_DATED = fields.Shape({"date": _date}, frozenset({"date"}))
_TURN = fields.Shape(
    {"speaker": fields.label, "dia_id": fields.text, "text": fields.text, "blip_caption": fields.text_or_null},
    frozenset({"speaker", "dia_id", "text"}),
)
_QUESTION = fields.Shape(
    {
        "question": fields.text,
        "category": _category,
        "evidence": _written,
        "answer": fields.anything,
        "adversarial_answer": fields.anything,
    },
    frozenset({"question", "category"}),
)
