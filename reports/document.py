"""A report before it has a format: sections of paragraphs, tables and figures, in which a plain string is data and never markup."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True)
class Code:
    """A name, a command or a hash, as it is typed."""

    text: str


@dataclass(frozen=True)
class Link:
    """Words that lead to a file of ours, seen from the document."""

    text: str
    target: str


Inline = str | Strong | Code | Link
Rich = Inline | Sequence[Inline]
"""What a paragraph, an item or a cell holds: one piece or several."""

Row = Sequence[Rich]
"""The cells of a table's row."""


def pieces(text: Rich) -> Sequence[Inline]:
    """Return the pieces of a text."""
    return (text,) if isinstance(text, str | Strong | Code | Link) else text


def plain(text: Rich) -> str:
    """Return a text without its marks."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces(text))


@dataclass(frozen=True)
class Paragraph:
    """One paragraph."""

    text: Rich


@dataclass(frozen=True)
class Items:
    """A list."""

    items: Sequence[Rich]


@dataclass(frozen=True)
class Table:
    """Rows, the first of them the head; the columns in `left` stand to the left, the others to the right."""

    rows: Sequence[Row]
    left: Sequence[int] = (0,)


@dataclass(frozen=True)
class Listing:
    """Lines to be typed or read as they are."""

    text: str
    language: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure: what its file is called, what it shows in words, its size in inches and what draws it."""

    name: str
    says: str
    size: tuple[float, float]
    draw: Callable[[Figure], None]


Block = Paragraph | Items | Table | Listing | Picture


@dataclass(frozen=True)
class Section:
    """Blocks under a title; a collapsed one is opened by who wants it."""

    title: str
    blocks: Sequence[Block]
    collapsed: bool = False


@dataclass(frozen=True)
class Document:
    """A whole report: its title, what stands under it, its sections, and the numbers in it at full precision."""

    title: str
    opening: Sequence[Block]
    sections: Sequence[Section]
    numbers: dict[str, Any]

    @property
    def blocks(self) -> Iterator[Block]:
        """Every block in its order."""
        yield from self.opening
        for section in self.sections:
            yield from section.blocks

    @property
    def pictures(self) -> Iterator[Picture]:
        """Every figure in its order."""
        return (block for block in self.blocks if isinstance(block, Picture))


def listed(parts: Sequence[str]) -> str:
    """Write parts as a sentence does: ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "none"
