"""Seeded mutations of files: harmless ones, which leave the meaning as it is, and hostile ones, which may leave none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Mutation = Callable[[bytes, Random], bytes]

ODD_VALUES = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e308,
    10**40,
    "",
    " ",
    "nan",
    "\u0000",
    "\ud800",
    "检索",
    "x" * 5000,
    [],
    {},
    [[]],
    {"": None},
)
"""What takes the place of a value in JSON."""

ODD_BYTES = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\r",
    b"\n",
    b"\t",
    b" ",
    b"\xc2\xa0",
    b"\xe2\x80\xa8",
    b'"',
    b"{",
    b"]",
    b":",
    b"#",
    b"nan",
    b"inf",
    b"1e999",
    b"-1",
    b"1_0",
    b"\xd9\xa3",
    b"<script>",
    b"../../",
    b"${oc.env:HOME}",
    b"!!python/object:os.system",
    b"&a [*a]",
)
"""What is put in somewhere."""


def crlf(content: bytes, chance: Random) -> bytes:
    """End every line with CR LF."""
    return content.replace(b"\n", b"\r\n")


def blank_lines(content: bytes, chance: Random) -> bytes:
    """Put blank lines in."""
    return b"".join(line + (b"\n" if chance.random() < 0.2 else b"") for line in content.splitlines(keepends=True))


def byte_order_mark(content: bytes, chance: Random) -> bytes:
    """Put a byte order mark first."""
    return b"\xef\xbb\xbf" + content


def shuffled_lines(content: bytes, chance: Random) -> bytes:
    """Put the lines into another order."""
    lines = content.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def packed(content: bytes, chance: Random) -> bytes:
    """Pack it with gzip under the name that it has."""
    return gzip.compress(content, mtime=0)


def other_space(content: bytes, chance: Random) -> bytes:
    """Separate columns by other white space."""
    return b"\n".join(chance.choice((b"\t", b" ", b"   ")).join(line.split()) for line in content.splitlines()) + b"\n"


def rewritten_lines(content: bytes, chance: Random) -> bytes:
    """Write each line of JSON in another way."""
    return b"".join(_rewritten(json.loads(line), chance, None) + b"\n" for line in content.splitlines())


def rewritten(content: bytes, chance: Random) -> bytes:
    """Write a JSON document in another way."""
    return _rewritten(json.loads(content), chance, chance.choice((None, 1, 4))) + b"\n"


def commented(content: bytes, chance: Random) -> bytes:
    """Put comments between the lines of YAML."""
    head, _, rest = content.partition(b"\n")  # the line of the package, which Hydra looks for first
    return head + b"\n" + b"".join((b"# note\n" if chance.random() < 0.3 else b"") + line for line in rest.splitlines(keepends=True))


def _rewritten(value: Any, chance: Random, indent: int | None) -> bytes:
    if isinstance(value, dict):
        value = dict(chance.sample(sorted(value.items()), len(value)))
    return json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=indent).encode()


def flipped(content: bytes, chance: Random) -> bytes:
    """Flip one to eight bits."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(content: bytes, chance: Random) -> bytes:
    """Lose the end, or a piece in the middle."""
    begin = chance.randrange(len(content))
    return content[:begin] + (content[chance.randint(begin, len(content)) :] if chance.random() < 0.5 else b"")


def put_in(content: bytes, chance: Random) -> bytes:
    """Put something odd in somewhere, or in the place of a word."""
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.choice(ODD_BYTES) + content[at + chance.choice((0, 0, 1, 3)) :]


def other_lines(content: bytes, chance: Random) -> bytes:
    """Lose a line, say one twice, or put two into one another's place."""
    lines = content.splitlines(keepends=True)
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    what = chance.randrange(4)
    if what == 0:
        del lines[one]
    elif what == 1:
        lines.insert(other, lines[one])
    elif what == 2:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines[one] = lines[other][: len(lines[other]) // 2] + lines[one]
    return b"".join(lines)


def other_words(content: bytes, chance: Random) -> bytes:
    """Put a word of the file into the place of another one, or lose one."""
    lines = [line.split() for line in content.splitlines()]
    words = [word for line in lines for word in line]
    line = chance.choice([line for line in lines if line])
    line[chance.randrange(len(line))] = chance.choice((chance.choice(words), b"", b"-3", b"0.5", b"1e400", b"nan"))
    return b"\n".join(b" ".join(line) for line in lines) + b"\n"


def odd_json_line(content: bytes, chance: Random) -> bytes:
    """Change the value, the key or the presence of something in one line of JSON."""
    lines = content.splitlines()
    at = chance.randrange(len(lines))
    lines[at] = json.dumps(changed(json.loads(lines[at]), chance)).encode()
    return b"\n".join(lines) + b"\n"


def odd_json(content: bytes, chance: Random) -> bytes:
    """Change the value, the key or the presence of something in a JSON document."""
    return json.dumps(changed(json.loads(content), chance)).encode()


def doubled_key(content: bytes, chance: Random) -> bytes:
    """Name a key of a JSON object twice."""
    at = content.find(b"{", chance.randrange(max(1, len(content) // 2)))
    key = content.find(b'"', at)
    end = content.find(b":", key)
    return content[: at + 1] + content[key : end + 1] + b" 1, " + content[at + 1 :] if -1 < at < key < end else content + b"}"


def nested(content: bytes, chance: Random) -> bytes:
    """Put a very deep value in the place of everything."""
    depth = chance.choice((50, 2000, 100_000))
    return chance.choice((b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth, b"- " * min(depth, 2000) + b"x"))


def emptied(content: bytes, chance: Random) -> bytes:
    """Leave nothing, or next to nothing."""
    return chance.choice((b"", b"\n", b"null\n", b"[]\n", b"{}\n", b"0\n", b'""\n', b"---\n...\n", b"\xff\xfe"))


def changed(value: Any, chance: Random) -> Any:
    """Return a JSON value in which one thing is another: a value, a key, or that it is there at all."""
    places = list(_places(value))
    path = chance.choice(places) if places else ()
    if not path:
        return chance.choice(ODD_VALUES)
    root = json.loads(json.dumps(value))
    inside = root
    for step in path[:-1]:
        inside = inside[step]
    what = chance.randrange(4)
    if what == 0:
        del inside[path[-1]]
    elif what == 1 and isinstance(inside, dict):
        inside[chance.choice(("", "x", "id", "\u0000", "é"))] = inside.pop(path[-1])
    elif what == 2:
        inside[path[-1]] = json.loads(json.dumps(chance.choice([found for place in places if (found := _at(value, place)) is not None])))
    else:
        inside[path[-1]] = chance.choice(ODD_VALUES)
    return root


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, found in inner:
        yield (*path, step)
        yield from _places(found, (*path, step))


COLUMNS_HARMLESS: tuple[Mutation, ...] = (crlf, blank_lines, byte_order_mark, shuffled_lines, packed, other_space)
LINES_HARMLESS: tuple[Mutation, ...] = (crlf, blank_lines, byte_order_mark, shuffled_lines, packed, rewritten_lines)
JSON_HARMLESS: tuple[Mutation, ...] = (crlf, rewritten)
YAML_HARMLESS: tuple[Mutation, ...] = (crlf, commented)
HOSTILE: tuple[Mutation, ...] = (flipped, cut, put_in, other_lines, emptied, nested)
COLUMNS_HOSTILE = (*HOSTILE, other_words)
LINES_HOSTILE = (*HOSTILE, odd_json_line, doubled_key)
JSON_HOSTILE = (*HOSTILE, odd_json, doubled_key)
