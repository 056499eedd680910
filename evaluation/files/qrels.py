"""Judgments in a table, read at once: a dictionary of a dictionary, without an object a line."""

from __future__ import annotations

import re
from pathlib import Path

from ...datasets.faults import Refused
from ...datasets.formats.qrels import HEADER
from ...datasets.reading import is_json, read_blocks

_ODD = re.compile(r"[^\S \t\n]|[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff]")
_GRADE = re.compile(r"-?\d{1,4}", re.ASCII)


def quick_qrels(path: Path) -> dict[str, dict[str, int]] | None:
    """Read judgments whose every line is as most are; None where the careful reader has to look at them.

    Raises:
        InputError: the file can't be opened, or is damaged.
    """
    if is_json(path):
        return None
    try:
        text = b"".join(read_blocks(path, Refused())).decode()
    except UnicodeDecodeError:
        return None
    separator = "\t" if "\t" in text else " "
    if _ODD.search(text) or (separator == "\t" and " " in text):
        return None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if lines and lines[0].rpartition(separator)[2].lower() in HEADER:
        lines = lines[1:]
    rows = [line.split(separator) for line in lines]
    widths = set(map(len, rows))
    if widths not in ({3}, {4}) or not all(map(all, rows)):
        return None
    grades = {row[-1] for row in rows}
    if not all(map(_GRADE.fullmatch, grades)):
        return None
    read = {grade: int(grade) for grade in grades}
    qrels: dict[str, dict[str, int]] = {}
    for row in rows:
        judged = qrels.setdefault(row[0], {})
        if row[-2] in judged:
            return None
        judged[row[-2]] = read[row[-1]]
    return qrels
