"""A table of memories, and one of questions: a file, what a database answers, or a data frame.

Of memories only an id and a text are needed, of questions a text and what answers it. Columns are known by their usual
names, or named by the caller; the others are not read.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from .. import fields
from ..assembly import load
from ..errata import corrected
from ..errors import InputError
from ..faults import BAD_VALUE, MISSING_FIELD, TIME_WITHOUT_ZONE, Faults, Placed, Refused
from ..model import EPOCH, Dataset, Observation, Query
from ..reading import source_name
from ..tables import Table, read_query, read_table_file

MEMORY = {
    "id": ("id", "memory_id", "observation_id", "doc_id", "docid", "docno", "_id", "message_id", "uuid", "key"),
    "text": ("text", "content", "memory", "narrative", "body", "message", "document", "note", "observation", "fact", "value"),
    "title": ("title", "subject", "heading"),
    "time": ("timestamp", "time", "created_at", "date", "datetime", "created", "observed_at", "ts"),
    "session": ("session_id", "session", "conversation_id", "thread_id", "chat_id", "conversation", "thread"),
    "type": ("type", "kind"),
    "scope": ("scope", "user_id", "namespace", "tenant", "user"),
    "importance": ("importance",),
    "superseded_by": ("superseded_by",),
}
"""What is read of a memory, and the columns that it is looked for in, case aside."""

QUESTION = {
    "id": ("id", "question_id", "query_id", "qid", "query-id", "_id"),
    "text": ("question", "query", "text", "prompt", "content"),
    "relevant": (
        *("relevant", "relevant_ids", "relevant_memories", "memory_ids", "observation_ids", "doc_ids", "gold", "gold_ids", "evidence"),
        *("expected", "positives", "memory_id", "doc_id"),
    ),
    "category": ("category", "question_type", "type"),
    "time": ("asked_at", "timestamp", "time", "date", "created_at"),
    "scope": MEMORY["scope"],
}
"""What is read of a question, and the columns that it is looked for in."""

JUDGMENT = {
    "query": ("question_id", "query_id", "query-id", "qid", "query", "question"),
    "memory": ("memory_id", "observation_id", "corpus-id", "doc_id", "docid", "docno", "memory", "id"),
    "grade": ("grade", "relevance", "score", "rel", "label"),
}
"""What is read of a table of judgments; without grades each is 1."""


@dataclass(frozen=True)
class Tables:
    """What was understood: the tables, and which of their columns holds what.

    Attributes:
        memory, question, judgment: what is read → its column.
        separator: what stands between the ids of one cell; "" for any of comma, semicolon, bar and white space.
    """

    memories: Table
    memory: Mapping[str, str]
    questions: Table | None = None
    question: Mapping[str, str] = ()  # type: ignore[assignment]
    judgments: Table | None = None
    judgment: Mapping[str, str] = ()  # type: ignore[assignment]
    separator: str = ""

    def told(self) -> Iterator[str]:
        """Yield in words what each table is read as, with the first row of it."""
        for table, columns in ((self.memories, self.memory), (self.questions, self.question), (self.judgments, self.judgment)):
            if table is None:
                continue
            read = ", ".join(what if what == column else f"{what} from {column}" for what, column in columns.items())
            left = ", ".join(column for column in table.columns if column not in columns.values())
            yield f"{table.name}: {len(table.rows):,} rows; {read}" + (f"; not read: {left}" if left else "")
            for where, row in table.rows[:1]:
                cells = (f"{what}={_short(row.get(column))}" for what, column in columns.items())
                yield f"  {where}: {'  '.join(cells)}"

    def read(self, faults: Faults) -> Iterator[Placed]:
        """Yield every record: memories, questions, judgments."""
        known: set[str] = set()
        for where, row in self.memories.rows:
            if memory := _memory(_cells(row, self.memory), where, faults):
                known.add(memory.id)
                yield Placed(where, memory)
        for number, (where, row) in enumerate(self.questions.rows if self.questions else (), start=1):
            yield from self._question(_cells(row, self.question), f"q{number}", known, where, faults)
        for where, row in self.judgments.rows if self.judgments else ():
            cells = _cells(row, self.judgment)
            grade = cells.get("grade", 1)
            yield from fields.judge(_identifier(cells.get("query")), _identifier(cells.get("memory")), grade, where, faults)

    def _question(self, cells: Mapping[str, Any], number: str, known: set[str], where: str, faults: Faults) -> Iterator[Placed]:
        if not str(cells.get("text", "")).strip():
            faults.report(MISSING_FIELD, where, "the question has no text")
            return
        values: dict[str, Any] = {"id": _identifier(cells["id"]) if "id" in cells else number, "text": str(cells["text"])}
        values |= {name: str(cells[name]) for name in ("category", "scope") if name in cells}
        if "time" in cells:
            values["asked_at"] = _moment(cells["time"], where, faults)
        if query := fields.construct(Query, values, where, faults):
            yield Placed(where, query)
            for observation, grade in _relevant(cells.get("relevant"), self.separator, known):
                yield from fields.judge(query.id, observation, grade, where, faults)


def load_table(
    path: str,
    questions: str | None = None,
    relevant: str | None = None,
    id: str | None = None,
    text: str | None = None,
    time: str | None = None,
    session: str | None = None,
    separator: str = "",
    query: str | None = None,
    questions_query: str | None = None,
    errata: str | None = None,
) -> Dataset:
    """Load a table of memories and one of questions.

    Args:
        path: CSV, TSV, JSON, JSONL or Parquet; or the address of a database, such as ``sqlite:///file.db`` or ``postgresql://…``.
        questions: another such file; None for none.
        relevant: the column of the questions that names what answers them, or a file of judgments.
        id, text, time, session: the columns of the memories; None where they have a usual name.
        separator: what stands between the ids of one cell; "" for any of comma, semicolon, bar and white space.
        query: what the database is asked for memories.
        questions_query: what it is asked for questions.
        errata: a file of corrections to lay over the labels.

    Raises:
        InputError: a file or column that is not there, or anything that `read_table` reports as an error.
    """
    options = {"questions": questions, "relevant": relevant, "id": id, "text": text, "time": time, "session": session}
    asked = {"query": query, "questions_query": questions_query}
    tables = tables_of(path, faults=Refused(), separator=separator, **options, **asked)  # type: ignore[arg-type]
    return corrected(load(tables.read, name=name_of(path)), errata)


def read_table(path: Path | str, faults: Faults, **options: Any) -> Iterator[Placed]:
    """Yield every record of the tables; see `load_table` for the options."""
    yield from tables_of(str(path), faults=faults, **options).read(faults)


def tables_of(
    path: str,
    *,
    faults: Faults,
    questions: str | None = None,
    relevant: str | None = None,
    query: str | None = None,
    questions_query: str | None = None,
    separator: str = "",
    **columns: str | None,
) -> Tables:
    """Read the tables that `load_table` names and tell which column holds what."""
    if "://" in path:
        if not query:
            raise InputError("a database must be asked something", where=path.partition("://")[0], remedy="write --query 'select …'")
        memories = read_query(path, query)
    else:
        memories = read_table_file(Path(path), faults)
    asked = read_query(path, questions_query) if questions_query else read_table_file(Path(questions), faults) if questions else None
    judged = Path(relevant) if relevant and Path(relevant).is_file() else None
    given = {what: column for what, column in columns.items() if column}
    return understood(memories, asked, read_table_file(judged, faults) if judged else None, given, None if judged else relevant, separator)


def understood(
    memories: Table,
    questions: Table | None = None,
    judgments: Table | None = None,
    columns: Mapping[str, str] | None = None,
    relevant: str | None = None,
    separator: str = "",
) -> Tables:
    """Tell which column of each table holds what.

    Args:
        columns: of the memories, what is read → its column, where it has no usual name.
        relevant: the column of the questions that names what answers them, where it has no usual name.

    Raises:
        InputError: a column that is needed or named is not there.
    """
    of_memories = _columns(memories, MEMORY, columns or {}, needed=("id", "text"))
    of_questions = _columns(questions, QUESTION, {"relevant": relevant} if relevant else {}, needed=("text",)) if questions else {}
    if questions and ("scope" in of_memories) != ("scope" in of_questions):
        for found in (of_memories, of_questions):
            found.pop("scope", None)  # a question would search a scope that no memory is in
    if judgments:
        of_questions.pop("relevant", None)
    of_judgments = _columns(judgments, JUDGMENT, {}, needed=("query", "memory")) if judgments else {}
    return Tables(memories, of_memories, questions, of_questions, judgments, of_judgments, separator)


def _columns(table: Table, known: Mapping[str, tuple[str, ...]], given: Mapping[str, str], *, needed: Iterable[str]) -> dict[str, str]:
    there = f"there are {', '.join(table.columns) or 'none'}"
    for what, column in given.items():
        if column not in table.columns:
            raise InputError(f"there is no column {column!r} for {what}", where=table.name, remedy=there)
    free = {name.lower().replace(" ", "_"): name for name in table.columns if name not in given.values()}
    found: dict[str, str] = {}
    for what, names in known.items():
        column = given.get(what) or next((free[name] for name in names if name in free and free[name] not in found.values()), None)
        if column is not None:
            found[what] = column
    for what in needed:
        if what not in found:
            remedy = f"name it with --{what}" if known is MEMORY else f"call one {known[what][0]!r}"
            raise InputError(f"no column holds the {what}", where=table.name, remedy=f"{remedy}; {there}")
    return found


def _cells(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return what a row holds of what is read; an empty cell is left out."""
    cells = {what: row.get(column) for what, column in columns.items()}
    return {what: value for what, value in cells.items() if not _empty(value)}


def _empty(value: Any) -> bool:
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _memory(cells: Mapping[str, Any], where: str, faults: Faults) -> Observation | None:
    for what in ("id", "text"):
        if what not in cells:
            faults.report(MISSING_FIELD, where, f"the memory has no {what}")
            return None
    values: dict[str, Any] = {"id": _identifier(cells["id"]), "narrative": str(cells["text"]), "title": str(cells.get("title", ""))}
    values |= {"session_id": str(cells.get("session", "")), "type": str(cells.get("type", "memory")), "scope": str(cells.get("scope", ""))}
    values["timestamp"] = (_moment(cells["time"], where, faults) if "time" in cells else None) or EPOCH
    if "superseded_by" in cells:
        values["superseded_by"] = _identifier(cells["superseded_by"])
    if "importance" in cells:
        if (importance := fields.grade(cells["importance"], where, faults)) is None:
            return None
        values["importance"] = importance
    return fields.construct(Observation, values, where, faults)


def _identifier(value: Any) -> str:
    """Return an id as text, as it was written: ``001`` stays; a frame's 7.0, which was 7 before a gap made it a fraction, is 7."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip()


def _moment(value: Any, where: str, faults: Faults) -> datetime | None:
    """Return a time: ISO 8601, a date, or seconds or milliseconds since 1970; one without a zone is UTC."""
    try:
        if isinstance(value, date) and not isinstance(value, datetime):
            moment = datetime.combine(value, time())
        elif isinstance(value, datetime):
            moment = datetime.fromisoformat(value.isoformat()[:32])  # a frame's own kind of time knows nanoseconds
        elif isinstance(value, int | float) or re.fullmatch(r"\d{9,13}(\.\d+)?", str(value).strip()):
            seconds = float(value)
            return datetime.fromtimestamp(seconds / 1000 if abs(seconds) >= 1e11 else seconds, UTC)
        else:
            moment = datetime.fromisoformat(str(value).strip())
    except (ValueError, OverflowError, OSError):
        faults.report(
            BAD_VALUE, where, f"{_short(value)} is no time: ISO 8601 is needed, such as 2026-03-01T09:30:00Z, or seconds since 1970"
        )
        return None
    if moment.tzinfo is None:
        faults.report(TIME_WITHOUT_ZONE, where, f"the time {moment.isoformat()} has no zone and is taken as UTC")
        moment = moment.replace(tzinfo=UTC)
    return moment


def _relevant(value: Any, separator: str, known: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield the ids of one cell, each with its grade: a list, a mapping to grades, JSON of either, or ids with a separator."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str) and value.strip()[:1] in ("[", "{", "("):
        value = _literal(value.strip())
    if isinstance(value, str):
        text = value.strip()
        parts = [text] if text in known else text.split(separator) if separator else re.split(r"[;,|\s]+", text)
        value = [part for part in map(str.strip, parts) if part]
    if isinstance(value, Mapping):
        yield from ((_identifier(observation), grade) for observation, grade in value.items())
    elif isinstance(value, Iterable):
        yield from ((_identifier(observation), 1) for observation in dict.fromkeys(value))
    elif value is not None:
        yield _identifier(value), 1


def _literal(text: str) -> Any:
    """Return the list or mapping that a cell spells out, in JSON or as Python prints it; the text itself where it is neither."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text


def name_of(path: str) -> str:
    """Return what a data set is called after its file or database."""
    return path.partition("://")[0] if "://" in path else Path(source_name(Path(path))).stem


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 40 else f"{told[:39]}…"
