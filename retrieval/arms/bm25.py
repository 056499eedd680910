"""The BM25 arm: term match with stems, synonyms and, if asked for, prefixes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question
from ..indexes.postings import Postings
from ..text.analysis import Analysis, Analyzer
from ..text.rendering import indexed_text
from ..text.segmentation import is_unspaced
from ..text.synonyms import SOFTWARE, Synonyms, load_groups
from ..topk import top_k


class BM25:
    """Okapi BM25 over weighted query terms.

    score = Σ over the terms of weight × idf × tf (k1 + 1) / (tf + k1 (1 − b + b × length / mean length)), with
    idf = ln((N − df + ½) / (df + ½) + 1), which is above 0 for every term. A term of the question has weight 1 however often
    it stands there, a synonym of one `synonym_weight`, and one of a term that no row holds `stand_in_weight`. With a
    `prefix_weight` each also finds the longer terms that begin with it, at that share of their idf; short words then match
    large parts of a vocabulary, which costs more than it brings.
    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009, with the idf of Lucene.

    Args:
        analyzer: what makes terms of texts; English with stems when None.
        synonyms: the packaged groups (``software``) or a YAML or JSON file of one's own; null switches synonyms off.
        synonym_weight, stand_in_weight, prefix_weight: 0 to 1; 0 switches it off.
        k1: how slowly repeats of a term saturate, ≥ 0.
        b: how much length counts, 0 to 1.

    Raises:
        InputError: a number out of range, or synonyms that cannot be read.
    """

    def __init__(
        self,
        analyzer: Analysis | None = None,
        synonyms: str | Path | None = SOFTWARE,
        synonym_weight: float = 0.2,
        stand_in_weight: float = 1.0,
        prefix_weight: float = 0.0,
        k1: float = 1.2,
        b: float = 0.6,
    ) -> None:
        self.analyzer = analyzer or Analyzer()
        self.groups = load_groups(synonyms) if synonyms is not None else ()
        self.synonym_weight, self.stand_in_weight, self.prefix_weight = synonym_weight, stand_in_weight, prefix_weight
        self.k1, self.b = k1, b
        ranges = {"synonym_weight": 1.0, "stand_in_weight": 1.0, "prefix_weight": 1.0, "k1": 1e6, "b": 1.0}
        for name, most in ranges.items():
            if not 0 <= getattr(self, name) <= most:
                raise InputError(f"{name} {getattr(self, name)} is not in 0–{most:g}", where=name)

    def build(self, corpus: Corpus) -> BM25Index:
        """Index the fields of every observation."""
        return self.index(self.analyzer.terms(indexed_text(observation)) for observation in corpus.observations)

    def index(self, terms_of_rows: Iterable[Iterable[str]]) -> BM25Index:
        """Index rows that are terms already."""
        return BM25Index(self, Postings.of(terms_of_rows))


class BM25Index:
    """Every posting with what it adds to the score of its row at weight 1, so that a query only has to add."""

    def __init__(self, settings: BM25, postings: Postings) -> None:
        self.settings, self.postings = settings, postings
        self.synonyms = Synonyms(settings.groups, settings.analyzer)
        frequencies = postings.frequencies()
        idf = np.log((len(postings) - frequencies + 0.5) / (frequencies + 0.5) + 1)
        mean = postings.lengths.mean() if len(postings.rows) else 1.0
        norms = settings.k1 * (1 - settings.b + settings.b * postings.lengths / mean)
        self.contributions = np.repeat(idf * (settings.k1 + 1), frequencies)
        self.contributions *= postings.counts / (postings.counts + norms[postings.rows])

    def search(self, question: Question, limit: int) -> Candidates:
        """Return the best `limit` visible rows that hold a term of the question, a synonym, or a longer form of either."""
        scores = np.zeros(len(self.postings))
        for term, weight in self._weighted(question.text).items():
            first, last = self.postings.beginning_with(term)
            indexed = first < last and self.postings.vocabulary[first] == term
            if indexed:
                self._add(scores, first, first + 1, weight)
                first += 1
            if not (indexed and is_unspaced(term)):  # such words are split down to their parts already
                self._add(scores, first, last, weight * self.settings.prefix_weight)
        every = scores if question.visible is None else np.where(question.visible, scores, np.nan)
        return replace(top_k(scores, limit, question.visible), every=every)

    def _add(self, scores: NDArray[np.float64], first: int, last: int, weight: float) -> None:
        """Add the postings of a range of terms; a row may occur once for each of them."""
        here = slice(self.postings.offsets[first], self.postings.offsets[last])
        if weight > 0 and here.start < here.stop:
            np.add.at(scores, self.postings.rows[here], weight * self.contributions[here])

    def _weighted(self, text: str) -> dict[str, float]:
        terms = dict.fromkeys(self.settings.analyzer.terms(text), 1.0)
        absent = [term for term in terms if not self.postings.has(term)]
        beside = dict.fromkeys(self.synonyms.of(terms), self.settings.synonym_weight)
        return beside | dict.fromkeys(self.synonyms.of(absent), self.settings.stand_in_weight) | terms
