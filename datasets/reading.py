"""Files as lines, table rows and JSON objects: UTF-8, plain, gzip or Zstandard, each piece with its place."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from .errors import InputError
from .faults import BLANK_LINE, BROKEN, BYTE_ORDER_MARK, CRLF, NOT_TEXT, REPEATED_KEY, Faults

_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK, _BLOCK = 1 << 20, 1 << 22


class Repeated(dict[str, Any]):
    """A JSON object that names a key more than once: the last value of each counts, `pairs` has them all."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def source_name(path: Path) -> str:
    """Return what a data set is called after its folder or file."""
    return Path(os.path.abspath(path)).name.removesuffix(".gz").removesuffix(".json")


def is_json(path: Path) -> bool:
    """Return whether a file is JSON by its name, packed or not, in any case."""
    return path.name.lower().removesuffix(".gz").removesuffix(".zst").endswith(".json")


def read_blocks(path: Path, faults: Faults) -> Iterator[bytes]:
    """Yield a file's bytes, unpacked, in blocks of a few million.

    Raises:
        InputError: the file cannot be opened.
    """
    with _opened(path) as file:
        try:
            while block := file.read(_BLOCK):
                yield block
        except _DAMAGE as error:
            faults.report(NOT_TEXT, str(path), f"the file is damaged ({_reason(error)})")


def read_lines(path: Path, faults: Faults) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every line that is not blank.

    Raises:
        InputError: the file cannot be opened.
    """
    with _opened(path) as file:
        for number, raw in enumerate(_undamaged(file, path, faults), start=1):
            where = f"{path}:{number}"
            if number == 1 and raw.startswith(_UTF16):
                faults.report(NOT_TEXT, where, "the file is UTF-16")
                return
            if number == 1 and raw.startswith(codecs.BOM_UTF8):
                faults.report(BYTE_ORDER_MARK, where, "the file begins with a byte order mark")
                raw = raw.removeprefix(codecs.BOM_UTF8)
            if raw.endswith(b"\r\n"):
                faults.report(CRLF, where, "the line ends with CR LF")
            try:
                text = raw.decode()
            except UnicodeDecodeError as error:
                faults.report(NOT_TEXT, where, f"byte 0x{raw[error.start]:02x} at position {error.start + 1} is not UTF-8")
                continue
            if text.isspace() or not text:
                faults.report(BLANK_LINE, where, "the line is blank")
            else:
                yield where, text.rstrip("\r\n")


def read_objects(path: Path, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) of every line of a JSONL file."""
    for where, line in read_lines(path, faults):
        value = _parsed(line, where, faults)
        if isinstance(value, dict):
            yield where, value
        elif value is not _UNREADABLE:
            faults.report(BROKEN, where, f"a JSON object is needed, this is {_kind(value)}")


def read_rows(path: Path, faults: Faults) -> Iterator[tuple[str, list[str]]]:
    """Yield (place, columns) of every line of a table; tabs separate the columns, or white space where there is no tab."""
    for where, line in read_lines(path, faults):
        yield where, [column.strip(" ") for column in line.split("\t")] if "\t" in line else line.split()


def read_text(path: Path, faults: Faults) -> str | None:
    """Return what a file holds, without a byte order mark; None when that is not UTF-8, which is a fault."""
    with _opened(path) as file:
        raw = b"".join(_undamaged(file, path, faults))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        faults.report(NOT_TEXT, str(path), f"byte 0x{raw[error.start]:02x} at position {error.start + 1} is not UTF-8")
        return None


def read_document(path: Path, faults: Faults) -> Any:
    """Return the one JSON value that a file holds; None when it cannot be read, or is null, which is a fault."""
    text = read_text(path, faults)
    if text is None:
        return None
    value = _parsed(text, str(path), faults)
    if value is None:
        faults.report(BROKEN, str(path), "the file holds null alone")
    return None if value is _UNREADABLE else value


def read_array(path: Path, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) of every element of a file that is one JSON array, with one element in memory at a time."""
    with _opened(path) as file:
        window = _Window(file, path, faults)
        if window.next() != "[":
            faults.report(BROKEN, f"{path}:1", "a JSON array is needed")
            return
        window.skip(1)
        number = 0
        while (character := window.next()) not in ("]", ""):
            number += 1
            where = f"{path}[{number}]"
            if character != "{":
                faults.report(BROKEN, where, f"a JSON object is needed where {character!r} is")
                return
            value = window.element(where)
            if value is _UNREADABLE:
                return
            yield where, cast("dict[str, Any]", value)
            if window.next() == ",":
                window.skip(1)
            elif window.next() != "]":
                break
        if window.next() != "]":
            faults.report(BROKEN, f"{path}[{number}]", "the array does not end after this element, and no comma follows it")
            return
        window.skip(1)
        if window.next():
            faults.report(BROKEN, f"{path}[{number}]", "something follows the end of the array")


class _Window:
    """The part of a JSON text that is being read; it slides over the file and grows to hold one element."""

    def __init__(self, file: IO[bytes], path: Path, faults: Faults) -> None:
        self._file, self._path, self._faults = file, path, faults
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text, self._at, self._ended = "", 0, False

    def next(self) -> str:
        """Return the next character that is not white space; "" at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in " \t\r\n":
                    return self._text[self._at]
                self._at += 1
            if not self._grow(_CHUNK):
                return ""

    def skip(self, characters: int) -> None:
        self._at += characters

    def element(self, where: str) -> Any:
        """Return the object that begins here, reading on as long as it is not complete."""
        wanted = _CHUNK
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - 8
                if cut and self._grow(wanted):
                    wanted *= 2
                    continue
                self._faults.report(BROKEN, where, f"not valid JSON ({error.msg} {error.pos - self._at} characters into it)")
                return _UNREADABLE
            except (ValueError, RecursionError) as error:
                self._faults.report(BROKEN, where, f"not valid JSON ({_reason(error)})")
                return _UNREADABLE
            if isinstance(value, Repeated):
                self._faults.report(REPEATED_KEY, where, f"the key {_twice(value)!r} occurs twice")
            self._at = end
            return value

    def _grow(self, size: int) -> bool:
        while not self._ended:
            try:
                raw = self._file.read(size)
                self._ended = not raw
                more = self._decode(raw, self._ended)
            except _DAMAGE as error:
                self._ended = True
                self._faults.report(NOT_TEXT, str(self._path), f"the file is damaged ({_reason(error)})")
                return False
            if more:
                self._text, self._at = self._text[self._at :] + more, 0
                return True
        return False


_DAMAGE = (EOFError, OSError, UnicodeDecodeError, zlib.error)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        file = path.open("rb")
    except OSError as error:
        reason = "is a folder" if path.is_dir() else (error.strerror or str(error)).lower()
        raise InputError(f"can't read the file ({reason})", where=str(path), remedy="check the path") from error
    except ValueError as error:  # a NUL in the path
        raise InputError(f"can't read the file ({error})", where=repr(str(path)), remedy="check the path") from error
    with file:
        head = file.peek(4)
        if head.startswith(_GZIP):
            yield cast(IO[bytes], gzip.GzipFile(fileobj=file))
        elif head.startswith(_ZSTANDARD):
            yield _unpacked(file, path)
        else:
            yield file


def _unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    try:
        import zstandard
    except ImportError as error:
        raise InputError("zstandard is needed to unpack it", where=str(path), remedy="pip install zstandard, or unpack it") from error
    return BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True), _CHUNK)


def _undamaged(file: IO[bytes], path: Path, faults: Faults) -> Iterator[bytes]:
    try:
        yield from file
    except _DAMAGE as error:
        faults.report(NOT_TEXT, str(path), f"the file is damaged ({_reason(error)})")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else Repeated(pairs)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant)
_UNREADABLE = object()


def _parsed(text: str, where: str, faults: Faults) -> Any:
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        faults.report(BROKEN, where, f"not valid JSON ({error.msg} at character {error.pos + 1})")
        return _UNREADABLE
    except (ValueError, RecursionError) as error:
        faults.report(BROKEN, where, f"not valid JSON ({_reason(error)})")
        return _UNREADABLE
    if isinstance(value, Repeated):
        faults.report(REPEATED_KEY, where, f"the key {_twice(value)!r} occurs twice")
    return value


def _twice(value: Repeated) -> str:
    names = [name for name, _ in value.pairs]
    return next(name for name in names if names.count(name) > 1)


def _kind(value: Any) -> str:
    kinds = {list: "an array", str: "a string", bool: "true or false", int: "a number", float: "a number", type(None): "null"}
    return kinds.get(type(value), type(value).__name__)


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
