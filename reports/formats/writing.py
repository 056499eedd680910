"""A report becomes a file: in which format, and where its figures go."""

from __future__ import annotations

import json
import re
from os.path import realpath
from pathlib import Path

from ...datasets.errors import InputError
from ...datasets.file import is_stream, write_file
from ...evaluation.record import Run
from .. import preset
from ..document import Document, Picture
from ..figures import drawn
from ..sections.run_report import run_report
from . import html, latex, markdown

ENDINGS = {"markdown": ".md", "html": ".html", "latex": ".tex", "json": ".json"}
"""Format → how its files are called."""


def report_text(run: Run, path: Path, form: str | None = None) -> str:
    """Return the report of a run, its figures written beside `path`, or into the present folder if that is a pipe.

    Args:
        form: a key of `ENDINGS`; None: what the ending of `path` says, else Markdown.

    Raises:
        InputError: a figure can't be written, or an experiment's claims are asked for in another format than Markdown.
    """
    form = form or {ending: name for name, ending in ENDINGS.items()}.get(path.suffix.lower(), "markdown")
    if "claim" in run.config:
        if form != "markdown":
            raise InputError(
                f"the report of an experiment's claims is not written as {form}", where=str(run.path), remedy="ask for markdown"
            )
        return preset.render(run)
    # what is written is the end of a link, such as /dev/stdout may be; no folder of figures belongs among devices
    return write_document(run_report(run), Path(path.name) if is_stream(path) else Path(realpath(path)), form)


def write_document(document: Document, path: Path, form: str) -> str:
    """Write the figures of a document into ``figures/`` beside `path`, and return it in a format, which links them.

    Args:
        form: ``markdown``, ``html``, ``latex`` or ``json``.

    Raises:
        InputError: a figure can't be written.
    """
    stem = path.stem.lower()

    def file(picture: Picture, ending: str) -> Path:
        return path.parent / "figures" / f"{stem}-{picture.name}.{ending}"

    def place(ending: str, picture: Picture) -> str:
        return file(picture, ending).relative_to(path.parent).as_posix()

    figures = {p.name: {ending: drawn(p, ending) for ending in ("svg", "png")} for p in document.pictures} if form != "json" else {}
    for picture in document.pictures:
        for ending, content in figures.get(picture.name, {}).items():
            write_file(file(picture, ending), content, "the figure")
    match form:
        case "html":
            return html.write(document, lambda picture: _embedded(figures[picture.name]["svg"].decode(), picture.name))
        case "latex":
            return latex.write(document, lambda picture: place("png", picture))
        case "json":
            return json.dumps({"title": document.title, **document.numbers}, indent=1, ensure_ascii=False) + "\n"
        case _:
            return markdown.write(document, lambda picture: place("svg", picture))


def _embedded(svg: str, name: str) -> str:
    """Return an SVG file as a part of a page: without its prologue, its ids its own."""
    inner = svg[svg.index("<svg") :]
    return re.sub(r'(\bid="|"#|\(#|href="#)', lambda found: f"{found[1]}{name}-", inner)
