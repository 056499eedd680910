"""A report in Markdown, as GitHub shows it; its figures are files beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..document import Block, Document, Items, Listing, Paragraph, Picture, Table
from ..inert import at_line_start, in_markdown
from ..table import markdown, rich


def write(document: Document, place: Callable[[Picture], str]) -> str:
    """Return the document in Markdown.

    Args:
        place: where a figure's file is, seen from the document.
    """
    parts = [f"# {in_markdown(document.title)}", *(_block(block, place) for block in document.opening)]
    open_ones, collapsed = ([one for one in document.sections if one.collapsed is kept] for kept in (False, True))
    for section in open_ones:
        parts += [f"## {in_markdown(section.title)}", *(_block(block, place) for block in section.blocks)]
    for section in collapsed:
        title = in_markdown(section.title)
        parts += [f"<details><summary>{title}</summary>", *(_block(block, place) for block in section.blocks), "</details>"]
    return "\n\n".join(parts) + "\n"


def _block(block: Block, place: Callable[[Picture], str]) -> str:
    match block:
        case Paragraph(text):
            return at_line_start(rich(text))
        case Items(items):
            return "\n".join(f"- {at_line_start(rich(item))}" for item in items)
        case Table(rows, left):
            return markdown(rows, left=left)
        case Listing(text, language):
            return "\n".join(_fenced(text, language))
        case Picture():
            return f"![{in_markdown(block.says)}]({place(block)})"


def _fenced(text: str, language: str) -> Iterator[str]:
    """Yield the lines of a listing between fences that are longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    yield f"{fence}{language}"
    yield text.rstrip("\n")
    yield fence
