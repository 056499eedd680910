"""Lines of a run as columns: whole blocks of bytes at once, without a Python object a line.

A block is taken only if every line of it is what most lines of most files are: six columns of printable text, one space or one tab
between them, LF at the end, a finite score. What is anything else is for the careful reader, who names the line.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Words = NDArray[np.uint64]

COLUMNS = 6
PADDING = 32
"""Bytes that must follow a block, since texts are read a few bytes further than they go."""

_LONGEST = 64
_DIGITS, _FRACTION = 19, 27  # a whole number below 10^19 and ten to the 27th are exact in a float of 64 bits' mantissa
_MOST = _DIGITS + 8
_FULL = np.uint64(10 ** (_DIGITS - 1))
_POINT = np.uint8((ord(".") - ord("0")) % 256)
_EXTENDED = np.finfo(np.longdouble).nmant >= 63
_SPACES = re.compile(r"[^\S \t\n]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TENS = np.array([10**n for n in range(_FRACTION + 1)], np.longdouble)
_KEPT = np.array([(1 << 8 * n) - 1 for n in range(8)] + [2**64 - 1], np.uint64)
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)


@dataclass(frozen=True)
class Columns:
    """The lines of a block: where query and document of each stand in it, and its score; arrays of shape (lines,)."""

    block: bytes
    buffer: Bytes
    query: Offsets
    query_end: Offsets
    document: Offsets
    document_end: Offsets
    scores: NDArray[np.float64]

    @property
    def opens(self) -> NDArray[np.bool_]:
        """Whether a line's query is another than that of the line before."""
        changed = np.ones(len(self.query), bool)
        lengths = self.query_end - self.query
        changed[1:] = lengths[1:] != lengths[:-1]
        for at in range(0, int(lengths.max(initial=0)), 8):
            words = word(self.buffer, self.query, lengths, at)
            changed[1:] |= words[1:] != words[:-1]
        return changed

    def text(self, start: int, end: int) -> str:
        """Return a piece of the block."""
        return self.block[start:end].decode()


def columns_of(block: bytes) -> Columns | None:
    """Return a block of whole lines as columns; None if any of its lines is for the careful reader.

    Args:
        block: ends with LF and `PADDING` further bytes that are not looked at.
    """
    buffer = np.frombuffer(block, np.uint8)
    size = len(buffer) - PADDING
    if not _plain(block, buffer[:size]):
        return None
    ends = np.flatnonzero(buffer[:size] <= ord(" "))
    if len(ends) % COLUMNS:
        return None
    ends = ends.reshape(-1, COLUMNS)
    if not len(ends):
        return None
    separators = buffer[ends]
    between = separators[0, 0]
    if between == ord("\n") or (separators[:, :-1] != between).any() or (separators[:, -1] != ord("\n")).any():
        return None
    starts = np.empty_like(ends)
    starts[:, 1:] = ends[:, :-1] + 1
    starts[0, 0], starts[1:, 0] = 0, ends[:-1, -1] + 1
    lengths = ends - starts
    if (lengths < 1).any() or lengths[:, (0, 2)].max() > _LONGEST:
        return None
    scores = _numbers(buffer, np.ascontiguousarray(starts[:, 4]), lengths[:, 4])
    if scores is None:
        return None
    query, query_end, document, document_end = (np.ascontiguousarray(side[:, column]) for column in (0, 2) for side in (starts, ends))
    return Columns(block, buffer, query, query_end, document, document_end, scores)


def word(buffer: Bytes, starts: Offsets, lengths: Offsets, at: int) -> Words:
    """Return eight bytes of each text from position `at` on, zeros behind its end."""
    unaligned = np.ndarray((len(buffer) - 7,), "<u8", buffer=buffer, strides=(1,))
    return unaligned[np.minimum(starts + at, len(buffer) - 8)] & _KEPT[np.clip(lengths - at, 0, 8)]


def hashed(buffer: Bytes, starts: Offsets, ends: Offsets) -> Words:
    """Return 64 bits that differ where texts differ, but for chance."""
    lengths = ends - starts
    result = lengths.astype(np.uint64) * _FACTORS[3]
    for at in range(0, int(lengths.max(initial=0)), 8):
        result = mixed(result ^ word(buffer, starts, lengths, at))
    return result


def mixed(words: Words) -> Words:
    """Spread every bit of each word over all bits (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * _FACTORS[0]
    words = (words ^ (words >> np.uint64(27))) * _FACTORS[1]
    return words ^ (words >> np.uint64(31))


def _plain(block: bytes, buffer: Bytes) -> bool:
    """Return whether every character is printable, a space, a tab or LF, in UTF-8."""
    if block.isascii():
        return not ((buffer < 32) & (buffer != ord("\n")) & (buffer != ord("\t"))).any() and not (buffer == 127).any()
    try:
        return _SPACES.search(block[: len(buffer)].decode()) is None
    except UnicodeDecodeError:
        return False


def _numbers(buffer: Bytes, starts: Offsets, lengths: Offsets) -> NDArray[np.float64] | None:
    """Return decimal numbers as the nearest float64 each; None if one of them is none, or not finite.

    Digits are gathered into a whole number and divided by a power of ten in extended precision, which rounds once more on the way to
    64 bits; where that could go the other way, and for any other notation, Python reads the number.
    """
    whole, fraction = np.zeros(len(starts), np.uint64), np.zeros(len(starts), np.int8)
    seen_point, odd = np.zeros(len(starts), bool), np.zeros(len(starts), bool)
    negative = buffer[starts] == ord("-")
    longest, shortest = int(lengths.max()), int(lengths.min())
    most = _MOST if _EXTENDED else 0
    if longest > most:
        odd |= lengths > most
    for at in range(min(longest, most)):
        value = buffer[starts + at] - np.uint8(ord("0"))  # what lies below "0" wraps around
        digit = value < 10
        if at >= shortest:
            digit &= lengths > at
        point = value == _POINT
        if at >= shortest:
            point &= lengths > at
        neither = ~(digit | point) if at < shortest else ~(digit | point) & (lengths > at)
        odd |= (neither & ~negative) if at == 0 else neither
        odd |= point & seen_point
        if at >= _DIGITS:
            odd |= digit & (whole >= _FULL)
        whole = np.where(digit, whole * np.uint64(10) + value, whole)
        fraction += digit & seen_point
        seen_point |= point
    odd |= (fraction > _FRACTION) | (lengths - negative - seen_point < 1) | (seen_point & (fraction == 0))
    exact = whole.astype(np.longdouble) / _TENS[np.minimum(fraction, _FRACTION)]
    numbers = exact.astype(np.float64)
    off = np.abs((exact - numbers).astype(np.float64))
    odd |= off >= np.spacing(np.abs(numbers)) * 0.4999
    numbers = np.where(negative, -numbers, numbers)
    if odd.any():
        try:
            for line in np.flatnonzero(odd).tolist():
                numbers[line] = float(buffer[starts[line] : starts[line] + lengths[line]].tobytes())
        except ValueError:
            return None
    return numbers if math.isfinite(numbers.sum()) or np.isfinite(numbers).all() else None
