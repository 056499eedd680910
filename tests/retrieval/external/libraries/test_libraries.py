"""The adapters against the real packages, one contract for all of them; a package that is not installed skips its tests."""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pytest
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.loop import Protocol, evaluate
from recallmeter.retrieval.arms.vector import Vector
from recallmeter.retrieval.embedders.embedding import Vectors, normalised
from recallmeter.retrieval.pipeline import Pipeline

START = datetime(2024, 1, 1, tzinfo=UTC)
WORDS = ("cache", "retry", "index", "token", "deploy", "queue", "schema", "login", "proxy", "shard", "cursor", "webhook")


class BagOfWords:
    """A hash of each word is its dimension: deterministic, and near where words are shared."""

    model = "bag-of-words@0"

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.full((len(texts), 256), 1e-3)  # as with a real model, no text is without a direction
        for row, text in enumerate(texts):
            for word in text.lower().split():
                digest = hashlib.sha256(word.encode()).digest()
                vectors[row, digest[0]] += 1 + digest[1] / 512  # unequal weights, so that few scores tie
        return normalised(vectors)

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]


class Kind(NamedTuple):
    needs: str
    adapter: str
    embeds: bool = False
    build: str = ""
    knows_time: bool = True


KINDS = {
    "sqlite_fts5": Kind("sqlite3", "SqliteFts5"),
    "tantivy": Kind("tantivy", "Tantivy"),
    "bm25s": Kind("bm25s", "Bm25s"),
    "chroma": Kind("chromadb", "Chroma", embeds=True),
    "qdrant": Kind("qdrant_client", "Qdrant", embeds=True),
    "lancedb": Kind("lancedb", "LanceDB", embeds=True),
    "mem0": Kind("mem0", "Mem0", embeds=True),
    "langchain": Kind("langchain_core", "LangChain", embeds=True, build="langchain_in_memory", knows_time=False),
    "llamaindex": Kind("llama_index", "LlamaIndex", embeds=True, build="llamaindex_vector_store"),
}
EMBEDDING = [name for name, kind in KINDS.items() if kind.embeds]
MATCHING = [name for name, kind in KINDS.items() if not kind.embeds]
pytestmark = pytest.mark.integration


def made(name: str) -> Any:
    kind = KINDS[name]
    if find_spec(kind.needs) is None:
        pytest.skip(f'{kind.needs} is not installed: pip install "recallmeter[{name}]"')
    module = import_module(f"recallmeter.retrieval.external.libraries.{name}")
    build = [getattr(module, kind.build)] if kind.build else []
    return getattr(module, kind.adapter)(*build, *([BagOfWords()] if kind.embeds else []))


@pytest.fixture
def system(request) -> Any:
    system = made(request.param)
    yield system
    system.close()


def each(names: Sequence[str]) -> Callable:
    return pytest.mark.parametrize("system", names, indirect=True)


def memory(scopes: int = 2, count: int = 40) -> list[Observation]:
    chance = np.random.default_rng(3)
    return [
        Observation(
            id=f"{scope}/{n:02}",
            session_id=f"session {n % 5}",
            timestamp=START + timedelta(days=n),
            type="note",
            title=" ".join(chance.choice(WORDS, 4, replace=False)),
            scope=f"scope {scope}",
        )
        for scope in range(scopes)
        for n in range(count)
    ]


def queries(scopes: int = 2, **terms: Any) -> tuple[Query, ...]:
    return tuple(
        Query(id=f"{scope}-{word}", text=f"{word} {WORDS[-1 - number]}", relevant={f"{scope}/00": 1}, scope=f"scope {scope}", **terms)
        for scope in range(scopes)
        for number, word in enumerate(WORDS)
    )


@each(list(KINDS))
def test_every_answer_keeps_the_contract(system):
    dataset = Dataset("notes", tuple(memory()), queries())
    [result] = evaluate(dataset, {"system": system}, Protocol(k=7, warm_up=1, repeats=2), progress=False)
    assert {answer.error for answer in result.answers.values()} == {""}
    assert {len(answer.hits) for answer in result.answers.values()} == {7}
    assert all(version[0].isdigit() for version in result.report["packages"].values())


@each([name for name in KINDS if KINDS[name].knows_time])
def test_nothing_later_than_asked_comes_back(system):
    dataset = Dataset("notes", tuple(memory()), queries(asked_at=START + timedelta(days=9)))
    [result] = evaluate(dataset, {"system": system}, Protocol(k=20, warm_up=0, repeats=1), progress=False)
    assert {answer.error for answer in result.answers.values()} == {""}
    assert all(0 < len(answer.hits) <= 10 for answer in result.answers.values())


def test_a_system_without_time_is_caught_answering_from_the_future():
    dataset = Dataset("notes", tuple(memory()), queries(asked_at=START + timedelta(days=9)))
    [result] = evaluate(dataset, {"system": made("langchain")}, Protocol(k=20, warm_up=0, repeats=1), progress=False)
    assert all("later than asked" in answer.error for answer in result.answers.values())


@each(list(KINDS))
def test_a_small_memory_and_another_one_after_it(system):
    system.index(memory(count=3))
    assert 0 < len(system.search(" ".join(WORDS), 50, scope="scope 1").hits) <= 3
    system.index([o for o in memory(count=5) if o.scope == "scope 0"])
    assert 3 < len(system.search(" ".join(WORDS), 50, scope="scope 0").hits) <= 5
    assert system.search(" ".join(WORDS), 50, scope="scope 1").hits == ()


@each(MATCHING)
def test_what_shares_no_word_is_no_match(system):
    system.index(memory())
    for question in ("zebra", "", '"', "NEAR(a", "(", "token-", "a:b"):
        hits = system.search(question, 10, scope="scope 0").hits
        assert all("token" in o.title for o in memory() if o.id in {hit.id for hit in hits}), question
    assert system.search("zebra", 10, scope="scope 0").hits == ()


@each(list(KINDS))
def test_texts_that_break_programs(system):
    texts = ["", "token \x00 nul", "token \ud800 surrogate", "token " * 5000, "令牌 token 🙂", "token'); DROP TABLE memory; --"]
    system.index(
        [Observation(id=f"o{n}", session_id="s", timestamp=START, type="note", title=text) for n, text in enumerate(texts)],
    )
    for question in ("token", "token \ud800", "令牌", "token'); --"):
        assert len(system.search(question, 6).hits) <= 6
    assert len(system.search("token", 6).hits) >= 4


@each(list(KINDS))
def test_a_scope_with_nothing_to_index(system):
    system.index([Observation(id=f"o{n}", session_id="s", timestamp=START, type=" ", title="") for n in range(2)])
    assert len(system.search("token", 6).hits) <= 2


@each(EMBEDDING)
def test_the_same_vectors_give_the_exact_ranking(system):
    exact = Pipeline({"vector": Vector(BagOfWords())})
    for retriever in (system, exact):
        retriever.index(memory())
    for query in queries():
        found, wanted = (retriever.search(query.text, 10, scope=query.scope).hits for retriever in (system, exact))
        scores = {hit.id: hit.score for hit in exact.search(query.text, 40, scope=query.scope).hits}
        assert [scores[hit.id] for hit in found] == pytest.approx([hit.score for hit in wanted], abs=1e-6), query.id


@each(EMBEDDING)
def test_a_query_counts_the_time_that_its_embedding_took(system, monkeypatch):
    system.index(memory())
    quick = BagOfWords.embed_query

    def slow(self: BagOfWords, text: str) -> Vectors:
        time.sleep(0.05)
        return quick(self, text)

    monkeypatch.setattr(BagOfWords, "embed_query", slow)
    spans = system.search("cache", 5, scope="scope 0").trace.spans
    assert spans["total"] > spans["total.embed"] >= 50  # in milliseconds


def test_long_texts_become_chunks_and_the_mapping_is_told():
    system = made("llamaindex")
    long = [
        Observation(id=f"o{n}", session_id="s", timestamp=START, type="note", title=WORDS[n], narrative=f"{WORDS[n]} word. " * 900)
        for n in range(3)
    ]
    system.index(long)
    ranking = system.search(WORDS[1], 3)
    assert ranking.ids[0] == "o1"
    assert ranking.trace.notes == [f"6 chunks of {len(ranking.hits)} observations; each counts with its best chunk"]
    report = system.report()
    assert report["observations"] == 3
    assert report["chunks"] > 6


def test_langchain_chunks_are_found_again_by_the_document_they_come_from():
    system = made("langchain")
    documents = import_module("langchain_core.documents")
    in_memory = import_module("recallmeter.retrieval.external.libraries.langchain").langchain_in_memory

    def by_word(whole, embedder):
        chunks = [documents.Document(page_content=word, metadata=d.metadata) for d in whole for word in d.page_content.split()]
        return in_memory(chunks, embedder)

    chunked = type(system)(by_word, BagOfWords(), oversample=4)
    chunked.index(memory(scopes=1))
    ranking = chunked.search("cache", 5, scope="scope 0")
    assert len(set(ranking.ids)) == len(ranking.ids) == 5
    assert all("cache" in o.title for o in memory(scopes=1) if o.id in ranking.ids[:1])


def test_a_langchain_retriever_with_a_k_of_its_own_is_asked_for_ours():
    pytest.importorskip("langchain_core", reason='pip install "recallmeter[langchain]"')
    retrievers = import_module("langchain_core.retrievers")

    class First(retrievers.BaseRetriever):
        documents: list
        k: int = 4

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list:
            return self.documents[: self.k]

    system = import_module("recallmeter.retrieval.external.libraries.langchain").LangChain(
        lambda documents, _: First(documents=documents), BagOfWords()
    )
    system.index(memory(scopes=1))
    assert system.search("anything", 9, scope="scope 0").ids == tuple(f"0/{n:02}" for n in range(9))


def test_mem0_sends_nothing_anywhere(monkeypatch, tmp_path):
    def refuse(self, address):
        raise AssertionError(f"a connection to {address}")

    system = made("mem0")
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    system.index(memory(count=5))
    assert system.search("cache", 5, scope="scope 0").trace is not None
    assert import_module("mem0.memory.telemetry").MEM0_TELEMETRY is False
    system.close()


def test_mem0_drops_what_scores_below_its_threshold():
    system = made("mem0")
    system.index(memory())
    hits = system.search("cache", 40, scope="scope 0").hits
    assert 0 < len(hits) < 40
    assert min(hit.score for hit in hits) >= 0.1
    system.close()
