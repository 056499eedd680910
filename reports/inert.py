"""Text of data sets, servers and plug-ins in documents that have markup: shown as it is, and never acted on."""

from __future__ import annotations

import re

_CONTROLS = re.compile(r"[\u0000-\u001F\u007F\u200B\u202A-\u202E\u2060-\u2069\uFEFF\uD800-\uDFFF]")
"""What hides or reorders text; the explorer shows the same characters by their numbers."""

_ANYWHERE = re.compile(r"[\\`*|~$]")
_BRACKET = re.compile(r"\](?=[(\[:])|\[(?=\^)")
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp)(?=:)")
_WEB = re.compile(r"(?i)\b(www)(?=\.)")
_AT = re.compile(r"(?<!\w)@(?=\w)|(?<=\w)@(?=[\w-]+\.\w)")
_LINE_START = re.compile(r"^(\s*)([#>+-]|\d+(?=[.)]))")


def visible(text: str) -> str:
    """Return `text` on one line, with characters that hide or reorder others shown by their numbers, such as ⟨U+202E⟩."""
    return _CONTROLS.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", re.sub(r"\s", " ", text))


def in_markdown(text: str) -> str:
    """Return `text` as Markdown that shows it: no HTML, image, link, address, emphasis, mention or formula comes of it."""
    text = _ANYWHERE.sub(r"\\\g<0>", _ENTITY.sub("&amp;", visible(text)))
    text = _BRACKET.sub(r"\\\g<0>", text)
    text = _UNDERSCORE.sub(r"\_", text).replace("<", "&lt;").replace(">", "&gt;")
    text = _WEB.sub(r"\1<span></span>", _ADDRESS.sub(r"\1<span></span>", text))  # no scheme and no host without its neighbour
    return _AT.sub("@<span></span>", text)


def at_line_start(markdown: str) -> str:
    """Escape what would begin a heading, a list or a quotation."""
    return _LINE_START.sub(lambda found: f"{found[1]}\\{found[2]}" if not found[2].isdigit() else f"{found[1]}{found[2]}\\", markdown)


_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "Δ": r"$\Delta$",
    "→": r"$\rightarrow$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "×": r"$\times$",
    "−": r"$-$",
    "–": "--",
}


def in_latex(text: str) -> str:
    """Return `text` as LaTeX that shows it."""
    return "".join(_LATEX.get(character, character) for character in visible(text))
