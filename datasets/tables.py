"""Tables as rows with their places: CSV, TSV, JSON, JSONL, Parquet, what a database answers, and data frames."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from .errors import InputError
from .faults import BLANK_LINE, BROKEN, Faults
from .reading import read_array, read_objects, read_text

KINDS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Table:
    """The rows of one source: each with its place and its values by column; what a column holds is of the source's own types.

    Attributes:
        name: what places and messages call it.
        columns: in the order of the source.
        rows: (place, column → value), in the order of the source.
    """

    name: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, Mapping[str, Any]]]


def read_table_file(path: Path, faults: Faults) -> Table:
    """Read a file whose ending names its kind, plain or gzip.

    Raises:
        InputError: no such file or kind, a broken header, or a package that reads it is missing.
    """
    kind = Path(path.name.removesuffix(".gz")).suffix.lower()
    if kind not in KINDS:
        raise InputError(f"no kind of table ends in {kind!r}", where=str(path), remedy=f"there are {', '.join(KINDS)}")
    if kind in (".csv", ".tsv"):
        return _delimited(path, faults, "\t" if kind == ".tsv" else "")
    if kind == ".parquet":
        return _named(str(path), _parquet(path))
    return _named(str(path), list((read_array if kind == ".json" else read_objects)(path, faults)))


def read_frame(frame: Any, name: str) -> Table:
    """Take the rows of a data frame, of pandas or polars."""
    records = frame.to_dict("records") if hasattr(frame, "iloc") else frame.to_dicts()
    columns = tuple(map(str, frame.columns))
    return Table(name, columns, [(f"{name}[{number}]", {str(k): v for k, v in row.items()}) for number, row in enumerate(records)])


def read_query(address: str, query: str) -> Table:
    """Ask a database.

    Args:
        address: ``sqlite:///file.db`` or ``postgresql://user@host/name``; the latter as psycopg takes it.
        query: SQL that returns rows.

    Raises:
        InputError: the database can't be reached or doesn't understand, or the package that speaks to it is missing.
    """
    scheme = address.partition("://")[0].partition("+")[0].lower()
    if scheme not in ("sqlite", "postgresql", "postgres"):
        raise InputError(
            f"no database is reached by {scheme or address!r}", where="--from", remedy="use sqlite:/// or postgresql://, or a file"
        )
    with closing(_sqlite(address) if scheme == "sqlite" else _postgresql(address)) as connection:
        try:
            cursor = connection.cursor()
            cursor.execute(query)
            if cursor.description is None:
                raise InputError("it returns no rows", where="--query", remedy="write a SELECT")
            columns = tuple(column[0] for column in cursor.description)
            _check_header(columns, "--query")
            rows = [(f"row {number}", dict(zip(columns, row, strict=True))) for number, row in enumerate(cursor.fetchall(), start=1)]
        except InputError:
            raise
        except Exception as error:  # each driver has exceptions of its own
            raise InputError(f"the database refused ({' '.join(str(error).split())})", where="--query", remedy="correct the SQL") from error
    return Table("query", columns, rows)


def _sqlite(address: str) -> Any:
    import sqlite3

    path = Path(address.partition("://")[2].removeprefix("/"))
    if not path.is_file():
        raise InputError("no such database", where=str(path), remedy="write sqlite:///file.db, or sqlite:////home/me/file.db")
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _postgresql(address: str) -> Any:
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise InputError("psycopg is not installed", where="--from", remedy='pip install "recallmeter[sql]"') from error
    try:
        connection = psycopg.connect(address.replace("postgresql+psycopg", "postgresql", 1), connect_timeout=10)
        connection.read_only = True
    except psycopg.Error as error:
        told = " ".join(str(error).split())
        if "://" in told or any(password in told for password in _passwords(address)):
            told = "the address is malformed"  # libpq quotes what it can't read, the password with it
        name = address.partition("?")[0].rpartition("/")[2]
        raise InputError(f"can't be reached ({told})", where=f"the database {name!r}", remedy="check the address") from None
    return connection


def _passwords(address: str) -> list[str]:
    """Return what an address holds for passwords, broken or not: between the name and the last @, and in a parameter."""
    found = re.search(r"://[^:@]*:(.+)@", address), re.search(r"[?&]password=([^&]+)", address)
    return [match[1] for match in found if match]


def _delimited(path: Path, faults: Faults, delimiter: str) -> Table:
    csv.field_size_limit(2**31 - 1)
    text = read_text(path, faults) or ""
    head = text.partition("\n")[0]
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter or max(DELIMITERS, key=head.count), strict=True)
    columns: tuple[str, ...] = ()
    rows: list[tuple[str, Mapping[str, Any]]] = []
    before = 0
    try:
        for values in reader:
            where, before = f"{path}:{before + 1}", reader.line_num
            if not values:
                faults.report(BLANK_LINE, where, "the line is blank")
            elif not columns:
                columns = tuple(name.strip() for name in values)
                _check_header(columns, where)
            elif len(values) != len(columns):
                faults.report(BROKEN, where, f"the header has {len(columns)} columns, this row has {len(values)}")
            else:
                rows.append((where, dict(zip(columns, values, strict=True))))
    except csv.Error as error:
        raise InputError(
            f"not a table ({error})", where=f"{path}:{reader.line_num}", remedy="close the quotes, or save it again"
        ) from error
    return Table(str(path), columns, rows)


def _parquet(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise InputError("pyarrow is not installed", where=str(path), remedy='pip install "recallmeter[parquet]"') from error
    try:
        rows = parquet.read_table(path).to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(
            f"can't be read ({' '.join(str(error).split())})", where=str(path), remedy="check the path and the file"
        ) from error
    return [(f"{path}: row {number}", row) for number, row in enumerate(rows, start=1)]


def _named(name: str, rows: list[Any]) -> Table:
    """Make a table of rows that each name their own columns."""
    return Table(name, tuple(dict.fromkeys(column for _, row in rows for column in row)), rows)


def _check_header(columns: tuple[str, ...], where: str) -> None:
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        raise InputError(f"the column {twice[0]!r} occurs twice", where=where, remedy="give every column a name of its own")
