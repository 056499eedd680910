"""LongMemEval (oracle, S and M): each question is asked of a history of its own.

Source: Wu et al., LongMemEval, ICLR 2025; the schema is that of ``longmemeval_{oracle,s,m}.json``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..errors import InputError
from ..faults import BAD_VALUE, Faults, Kind, Placed, Severity
from ..model import Dataset, Observation, Query
from ..reading import read_array, source_name

REPEATED_SESSION = Kind("repeated-session", Severity.WARNING, "nothing: both are kept, the second under an id of its own")
NO_ANSWER_TURN = Kind("answer-session-without-turn", Severity.WARNING, "mark the turn with has_answer, or use session granularity")
ANSWER_ELSEWHERE = Kind("turn-outside-answer-sessions", Severity.WARNING, "add the session to answer_session_ids, or take has_answer off")

_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2}) \(\w{3}\) (\d{2}):(\d{2})")
_ROLES = ("user", "assistant")


def load_longmemeval(path: str, granularity: str = "session", roles: Sequence[str] = _ROLES, errata: str | None = None) -> Dataset:
    """Load a LongMemEval file: every question is a scope, and so searches its own history alone.

    An abstention question (its id ends in ``_abs``) is unanswerable. Gold are the sessions that ``answer_session_ids``
    names, or in turn granularity the turns marked ``has_answer``; never what an id spells.

    Args:
        path: the JSON file, plain or gzip.
        granularity: what an observation is: a ``session`` or a ``turn``.
        roles: whose turns are remembered; the published retrieval results are of ``[user]``.
        errata: a file of corrections to lay over the labels.

    Raises:
        InputError: anything that `read_longmemeval` raises, or reports as an error.
    """
    source = Path(path)
    return corrected(
        load(lambda faults: read_longmemeval(source, faults, granularity, roles), name=source_name(source), licence="MIT"), errata
    )


def read_longmemeval(path: Path, faults: Faults, granularity: str = "session", roles: Sequence[str] = _ROLES) -> Iterator[Placed]:
    """Yield the records of one question after the other, with one question's history in memory at a time.

    Raises:
        InputError: an unknown granularity or role.
    """
    if granularity not in ("session", "turn"):
        raise InputError(f"no granularity {granularity!r}", where="dataset.granularity", remedy="use session or turn")
    if not roles or isinstance(roles, str) or set(roles) - set(_ROLES):
        raise InputError(f"no roles {roles!r}", where="dataset.roles", remedy="use [user], [assistant] or [user,assistant]")
    for where, raw in read_array(path, faults):
        values = _INSTANCE.parse(raw, where, faults)
        if values is None:
            continue
        where = f"{path}: question {values['question_id']}"
        lengths = {len(values[name]) for name in ("haystack_session_ids", "haystack_dates", "haystack_sessions")}
        if len(lengths) > 1:
            faults.report(BAD_VALUE, where, "haystack_session_ids, haystack_dates and haystack_sessions differ in length")
            continue
        yield from _question(values, where, faults, granularity, roles)


class _Session(NamedTuple):
    id: str  # unique in the data set, unlike what the file calls it
    name: str
    date: datetime
    turns: list[dict[str, Any]]
    where: str


def _question(values: dict[str, Any], where: str, faults: Faults, granularity: str, roles: Sequence[str]) -> Iterator[Placed]:
    scope = sys.intern(values["question_id"])
    asked = {"text": values["question"], "category": values["question_type"], "asked_at": values["question_date"]}
    if query := fields.construct(Query, {"id": scope, "scope": scope, **asked}, where, faults):
        yield Placed(where, query)
    sessions = list(_sessions(values, scope, where, faults))
    for session in sessions:
        shared = {"session_id": session.id, "timestamp": session.date, "title": "", "scope": scope}
        for identifier, kind, text in _remembered(session, granularity, roles):
            own = {"id": identifier, "type": sys.intern(kind), "narrative": text}
            if observation := fields.construct(Observation, {**shared, **own}, session.where, faults):
                yield Placed(session.where, observation)
    if not scope.endswith("_abs"):
        find = _gold_sessions if granularity == "session" else _gold_turns
        for identifier in find(values["answer_session_ids"], scope, sessions, faults):
            yield from fields.judge(scope, identifier, 1, where, faults)


def _sessions(values: dict[str, Any], scope: str, where: str, faults: Faults) -> Iterator[_Session]:
    seen: set[str] = set()
    rows = zip(values["haystack_session_ids"], values["haystack_dates"], values["haystack_sessions"], strict=True)
    for number, (name, date, turns) in enumerate(rows, start=1):
        place, unique, copy = f"{where}, session {number}", name, 1
        while unique in seen:
            copy += 1
            unique = f"{name}~{copy}"
        if copy > 1:
            faults.report(REPEATED_SESSION, place, f"the session id {name!r} occurs again; this one is called {unique!r}")
        seen.add(unique)
        yield _Session(f"{scope}/{unique}", name, date, turns, place)


def _remembered(session: _Session, granularity: str, roles: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the id, the type and the text of each observation that a session becomes."""
    turns = [(number, turn["role"], turn["content"]) for number, turn in enumerate(session.turns) if turn["role"] in roles]
    if granularity == "session":
        yield session.id, "session", "\n".join(content for _, _, content in turns)
    else:
        yield from ((f"{session.id}/{number}", role, content) for number, role, content in turns)


def _gold_sessions(answers: tuple[str, ...], scope: str, sessions: list[_Session], faults: Faults) -> list[str]:
    """Return the sessions that answer; one that is not in the history stays gold, and out of reach."""
    names = {session.name for session in sessions}
    missing = [f"{scope}/{name}" for name in dict.fromkeys(answers) if name not in names]
    return [session.id for session in sessions if session.name in answers] + missing


def _gold_turns(answers: tuple[str, ...], scope: str, sessions: list[_Session], faults: Faults) -> list[str]:
    """Return the turns marked as answering; without one, the sessions that answer stay gold, and out of reach."""
    gold = []
    for session in sessions:
        marked = [f"{session.id}/{number}" for number, turn in enumerate(session.turns) if turn.get("has_answer") is True]
        if marked and session.name not in answers:
            faults.report(ANSWER_ELSEWHERE, session.where, f"a turn of {session.name!r} is marked, and the session is not said to answer")
        if not marked and session.name in answers:
            faults.report(NO_ANSWER_TURN, session.where, f"the session {session.name!r} answers, and no turn of it is marked")
        gold += marked
    return gold or [f"{scope}/{name}" for name in dict.fromkeys(answers)]


def _date(value: Any) -> datetime:
    match = _DATE.fullmatch(fields.text(value))
    if match is None:
        raise ValueError("a date such as 2023/12/18 (Mon) 04:17 is needed")
    year, month, day, hour, minute = map(int, match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def _dates(value: Any) -> list[datetime]:
    return [_date(item) for item in fields.items(value)]


def _histories(value: Any) -> list[list[dict[str, Any]]]:
    for turn in (turn for session in fields.items(value) for turn in fields.items(session)):
        if not isinstance(turn, dict) or turn.get("role") not in _ROLES or not isinstance(turn.get("content"), str):
            raise ValueError("each turn needs a role, user or assistant, and a content")
    return value


_FIELDS = {
    "question_id": fields.text,
    "question_type": fields.label,
    "question": fields.text,
    "answer": fields.anything,
    "question_date": _date,
    "haystack_session_ids": fields.texts,
    "haystack_dates": _dates,
    "haystack_sessions": _histories,
    "answer_session_ids": fields.texts,
}
_INSTANCE = fields.Shape(_FIELDS, frozenset(_FIELDS) - {"answer"})
