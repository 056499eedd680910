"""The truncation audit for people: what an embedder read of each data set, and what recall it could not have had."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation.audits.truncation import PLACES, ModelWindow, truncation
from ..evaluation.measures.numbers import NONE, amount
from ..evaluation.record import Run
from ..retrieval.text.rendering import embedded_text
from .table import interval, markdown


def what_was_read(runs: Sequence[Run], system: str, window: ModelWindow) -> str:
    """Return the section in Markdown, a row a run.

    Args:
        system: whose R@10 is split; it should search by the embedder's vectors alone.
        window: what the embedder reads.
    """
    rows = [["data set", "observations", "cut off", "read of the cut ones", *(f"evidence {place}: R@10 (n)" for place in PLACES)]]
    for run in runs:
        found = truncation(run.queries.values(), run.observations, run.rankings[system], window)
        cut = found.shares[found.shares < 1]
        cells = [f"{interval(found.recall[place])} ({found.recall[place]['n']})" for place in PLACES]
        read = f"{amount(float(cut.mean()))} %" if len(cut) else NONE
        rows.append([run.manifest["dataset"]["name"], f"{len(found.ids):,}", f"{len(cut):,}", read, *cells])
    longest = max((len(embedded_text(o)) for run in runs for o in run.observations.values()), default=0)
    return (
        f"The model reads {window.tokens} word pieces of a text and nothing after them; the longest text here has {longest:,} characters. "
        f"R@10 is that of `{system}` over the evidence that it could have read and over the evidence that it could not, n being the "
        "queries that have such evidence. The data don't say where in a text the answer stands, so evidence is taken to be the sentence "
        "that shares most words with the question; in a text that is read to its end it is always inside. Observations are those that "
        "are relevant or were returned.\n\n" + markdown(rows)
    )
