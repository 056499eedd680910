"""A report in LaTeX, with tables as booktabs sets them; its figures are files beside it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from ..document import Block, Code, Document, Items, Link, Listing, Paragraph, Picture, Rich, Strong, Table, pieces
from ..inert import in_latex

_PREAMBLE = r"""% Compile with xelatex or lualatex, which read every script as it stands here.
\documentclass[a4paper]{article}
\usepackage{fontspec,booktabs,longtable,graphicx}
\usepackage[margin=2cm]{geometry}
\setlength{\tabcolsep}{4pt}
"""


def write(document: Document, place: Callable[[Picture], str]) -> str:
    """Return the document in LaTeX, what is collapsed elsewhere in an appendix.

    Args:
        place: where a figure's file is, seen from the document.
    """
    lines = [_PREAMBLE + rf"\title{{{in_latex(document.title)}}}", "\\date{}\n\\begin{document}\n\\maketitle"]
    lines += [_block(block, place) for block in document.opening]
    for collapsed in (False, True):
        lines += ["\\appendix"] * collapsed
        for section in (one for one in document.sections if one.collapsed is collapsed):
            lines += [rf"\section{{{in_latex(section.title)}}}", *(_block(block, place) for block in section.blocks)]
    return "\n\n".join((*lines, "\\end{document}")) + "\n"


def _block(block: Block, place: Callable[[Picture], str]) -> str:
    match block:
        case Paragraph(text):
            return _rich(text)
        case Items(items):
            return "\\begin{itemize}\n" + "\n".join(rf"\item {_rich(item)}" for item in items) + "\n\\end{itemize}"
        case Table(rows, left):
            return "\n".join(table(rows, left))
        case Listing(text):
            return "\\begin{verbatim}\n" + text.replace("\\end{verbatim}", "\\end {verbatim}").rstrip("\n") + "\n\\end{verbatim}"
        case Picture():
            return (
                "\\begin{figure}[ht]\\centering\n"
                rf"\includegraphics[width=\linewidth]{{{place(block)}}}"
                f"\n\\caption{{{in_latex(block.says)}}}\n\\end{{figure}}"
            )


def table(rows: Sequence[Sequence[Rich]], left: Container[int]) -> Iterator[str]:
    """Yield the lines of a table, which may run over pages."""
    head, *body = rows
    longest = [max(len(_rich(row[column])) for row in (head, *body)) for column in range(len(head))]
    wide = sum(longest) > 110
    column = [("p{6cm}" if wide and longest[n] > 40 else "l") if n in left else "r" for n in range(len(head))]
    yield f"{{\\{'footnotesize' if wide else 'small'}\n\\begin{{longtable}}{{{''.join(column)}}}\n\\toprule"
    yield " & ".join(map(_rich, head)) + r" \\ \midrule \endhead"
    yield from (" & ".join(map(_rich, row)) + r" \\" for row in body)
    yield "\\bottomrule\n\\end{longtable}}"


def _rich(text: Rich) -> str:
    marks = {Strong: "textbf", Code: "texttt", Link: "emph"}
    return "".join(
        in_latex(piece) if isinstance(piece, str) else f"\\{marks[type(piece)]}{{{in_latex(piece.text)}}}" for piece in pieces(text)
    )
