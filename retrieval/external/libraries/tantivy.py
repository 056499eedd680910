"""Tantivy, the Rust search engine, as a memory: BM25 with field lengths in one byte, so its scores are close to the formula's."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ..adapter import Adapter, Found
from ..catalogue import Partition
from ..extras import require

HEAP = 15_000_000
"""Bytes of the writer's buffer; tantivy takes no less."""


class Tantivy(Adapter):
    """An in-memory index a scope, English stems, the words of a query joined by OR.

    Raises:
        InputError: tantivy is not installed.
    """

    packages = ("tantivy",)
    needs_spaces = True

    def __init__(self) -> None:
        require("tantivy", "tantivy")

    def build(self, partition: Partition) -> _Index:
        """Index one scope in one thread, so that the order of documents is the same in every run."""
        t = require("tantivy", "tantivy")
        # the tokenizer that tantivy itself calls en_stem, built here since a query has to be cut the same way
        analyzer = (
            t.TextAnalyzerBuilder(t.Tokenizer.simple())
            .filter(t.Filter.remove_long(40))
            .filter(t.Filter.lowercase())
            .filter(t.Filter.stemmer("english"))
            .build()
        )
        schema = (
            t.SchemaBuilder()
            .add_text_field("id", stored=True, tokenizer_name="raw")
            .add_float_field("moment", indexed=True, fast=True)
            .add_text_field("text", tokenizer_name="stems")
            .build()
        )
        index = t.Index(schema)
        index.register_tokenizer("stems", analyzer)
        writer = index.writer(heap_size=HEAP, num_threads=1)
        for d in partition.documents:
            writer.add_document(t.Document(id=d.id, moment=d.timestamp.timestamp(), text=d.text))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return _Index(t, schema, analyzer, index.searcher())


class _Index:
    def __init__(self, tantivy: Any, schema: Any, analyzer: Any, searcher: Any) -> None:
        self.tantivy, self.schema, self.analyzer, self.searcher = tantivy, schema, analyzer, searcher

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        t, words = self.tantivy, dict.fromkeys(self.analyzer.analyze(query))
        if not words:
            return []
        asked = t.Query.boolean_query([(t.Occur.Should, t.Query.term_query(self.schema, "text", word, "freq")) for word in words])
        if asked_at is not None:
            earlier = t.Query.range_query(self.schema, "moment", t.FieldType.Float, None, asked_at.timestamp())
            asked = t.Query.boolean_query([(t.Occur.Must, asked), (t.Occur.Must, t.Query.const_score_query(earlier, 0.0))])
        hits = self.searcher.search(asked, k, count=False).hits
        return [(self.searcher.doc(address)["id"][0], score) for score, address in hits]
