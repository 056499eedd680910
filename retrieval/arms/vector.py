"""The vector arm: nearest observations by cosine similarity of their embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question
from ..embedders.embedding import Embedder
from ..indexes.exact import Exact
from ..indexes.vector_index import VectorIndex, VectorIndexing
from ..text.rendering import embedded_text
from ..text.scripts import share_of_scripts


class Vector:
    """Embed the observations when indexed and the query when asked; the nearest are the candidates.

    A turn of a conversation is seldom understood alone: with `context_turns` it is embedded after those that came right before it in
    its session. An embedder that says which `scripts` it was made for is trusted as far as the question is written in them, which a
    fusion takes into account.

    Args:
        embedder: gives L2-normalised vectors, so that the dot product is the cosine.
        index: how the nearest are found; exact search when None.
        context_turns: how many earlier turns are read before an observation of type ``turn``, ≥ 0.

    Raises:
        InputError: `context_turns` below 0.
    """

    def __init__(self, embedder: Embedder, index: VectorIndexing | None = None, context_turns: int = 0) -> None:
        if context_turns < 0:
            raise InputError(f"context_turns {context_turns} is below 0", where="context_turns")
        self.embedder, self.index, self.context_turns = embedder, index or Exact(), context_turns

    def build(self, corpus: Corpus) -> _VectorIndex:
        """Embed the whole corpus."""
        return _VectorIndex(self.embedder, self.index.build(self.embedder.embed(texts_in_context(corpus, self.context_turns))))


def texts_in_context(corpus: Corpus, turns: int) -> Sequence[str]:
    """Return what an embedder reads of each row, that of a conversation's turn after the `turns` before it."""
    alone = [embedded_text(observation) for observation in corpus.observations]
    if turns == 0:
        return alone
    texts = []
    for row, observation in enumerate(corpus.observations):
        read, before = [alone[row]], row
        for _ in range(turns if observation.type == "turn" else 0):
            before = int(corpus.neighbours[before, 0])
            if before < 0:
                break
            read.insert(0, alone[before])
        texts.append(", ".join(read))
    return texts


class _VectorIndex:
    def __init__(self, embedder: Embedder, index: VectorIndex) -> None:
        self.embedder, self.index = embedder, index

    def search(self, question: Question, limit: int) -> Candidates:
        if not question.text.strip():
            return Candidates.none()
        with question.trace.span("embed"):
            vector = self.embedder.embed_query(question.text)
        found = self.index.search(vector, limit, question.visible)
        scripts = getattr(self.embedder, "scripts", None)
        return found if scripts is None else replace(found, trust=share_of_scripts(question.text, scripts))
