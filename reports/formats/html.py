"""A report as one HTML file that carries its figures, its style and nothing that runs."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from html import escape
from urllib.parse import quote

from ..document import Block, Code, Document, Inline, Items, Link, Listing, Paragraph, Picture, Rich, Strong, Table, pieces
from ..inert import visible

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --quiet: #59616b; --line: #d5d9de; --soft: #f4f6f8; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e8eaed; --quiet: #a7afb9; --line: #3a4048; --soft: #1d2126; } }
html { font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; background: var(--paper); color: var(--ink); }
body { max-width: 70rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.frame { overflow-x: auto; } table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th.left, td.left { text-align: left; } thead th { border-bottom-width: 2px; }
pre, figure { background: var(--soft); padding: .7rem; overflow-x: auto; margin: .8rem 0; } figure { background: #fff; color: #000; }
figure svg { max-width: 100%; height: auto; } code, pre { font: .9em/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
summary { cursor: pointer; padding: .3rem 0; font-weight: 600; }
.opening p { margin: .2rem 0; font-size: 1.1rem; }
@media print { details > summary { list-style: none; } tr, figure { break-inside: avoid; } }
"""


def write(document: Document, drawn: Callable[[Picture], str]) -> str:
    """Return the document as HTML.

    Args:
        drawn: a figure as SVG.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_said(document.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{_said(document.title)}</h1>",
            '<div class="opening">',
            *(part for block in document.opening for part in _block(block, drawn)),
            "</div>",
            *_sections(document, drawn),
            "</main>\n</body>\n</html>\n",
        )
    )


def _sections(document: Document, drawn: Callable[[Picture], str]) -> Iterator[str]:
    for section in (one for one in document.sections if not one.collapsed):
        yield f"<section>\n<h2>{_said(section.title)}</h2>"
        for block in section.blocks:
            yield from _block(block, drawn)
        yield "</section>"
    for section in (one for one in document.sections if one.collapsed):
        yield f"<details><summary>{_said(section.title)}</summary>"
        for block in section.blocks:
            yield from _block(block, drawn)
        yield "</details>"


def _block(block: Block, drawn: Callable[[Picture], str]) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield f"<p>{_rich(text)}</p>"
        case Items(items):
            yield "<ul>" + "".join(f"<li>{_rich(item)}</li>" for item in items) + "</ul>"
        case Listing(text):
            yield f'<pre tabindex="0"><code>{escape(text)}</code></pre>'
        case Picture():
            yield f'<figure role="img" aria-label="{_said(block.says)}">{drawn(block)}</figure>'
        case Table(rows, left):
            head, *body = rows
            yield '<div class="frame" tabindex="0" role="region" aria-label="Table"><table>'
            heads = "".join(f'<th scope="col"{_side(n, left)}>{_rich(cell)}</th>' for n, cell in enumerate(head))
            yield f"<thead><tr>{heads}</tr></thead>"
            yield "<tbody>"
            for first, *cells in body:
                rest = "".join(f"<td{_side(n, left)}>{_rich(cell)}</td>" for n, cell in enumerate(cells, start=1))
                yield f'<tr><th scope="row"{_side(0, left)}>{_rich(first)}</th>{rest}</tr>'
            yield "</tbody></table></div>"


def _side(column: int, left: Container[int]) -> str:
    return ' class="left"' if column in left else ""


def _said(text: str) -> str:
    return escape(visible(text))


def _rich(text: Rich) -> str:
    return "".join(map(_piece, pieces(text)))


def _piece(piece: Inline) -> str:
    match piece:
        case Strong(words):
            return f"<strong>{_said(words)}</strong>"
        case Code(words):
            return f"<code>{_said(words)}</code>"
        case Link(words, target):
            return f'<a href="{quote(target, safe="/#=&")}">{_said(words)}</a>'
        case _:
            return _said(piece)
