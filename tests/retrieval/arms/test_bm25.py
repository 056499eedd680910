"""Term match: the score formula, its weights, and the figures that were published."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.arms.grep import Grep
from recallmeter.retrieval.arms.okapi import Okapi
from recallmeter.retrieval.corpus import Arm
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.ranking import Hit
from recallmeter.retrieval.text.agentmemory import AgentmemoryAnalyzer
from recallmeter.retrieval.text.analysis import Analyzer
from recallmeter.retrieval.text.synonyms import SOFTWARE, load_groups

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = {"analyzer": Analyzer(stem=False), "synonyms": None, "b": 0.75}


def memory(*narratives: str) -> list[Observation]:
    return [
        Observation(id=f"o{i}", session_id="s", timestamp=START + timedelta(hours=i), type="", title="", narrative=narrative)
        for i, narrative in enumerate(narratives)
    ]


def search(arm: Arm, observations: Sequence[Observation], query: str, k: int = 10) -> tuple[Hit, ...]:
    system = Pipeline({"arm": arm})
    system.index(observations)
    return system.search(query, k).hits


def test_the_score_is_the_formula() -> None:
    hits = search(BM25(**PLAIN), memory("cache cache token", "token store keys large", "nothing near"), "cache token cache")
    mean = (3 + 4 + 2) / 3

    def part(count: int, length: int, holders: int) -> float:
        idf = math.log((3 - holders + 0.5) / (holders + 0.5) + 1)
        return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))

    assert [hit.id for hit in hits] == ["o0", "o1"]
    assert hits[0].score == pytest.approx(part(2, 3, 1) + part(1, 3, 2))
    assert hits[1].score == pytest.approx(part(1, 4, 2))


def test_a_synonym_counts_at_its_weight(tmp_path: Path) -> None:
    groups = tmp_path / "groups.json"
    groups.write_text(json.dumps([["db", "database"], ["out-of-memory", "heap exhausted"]]))
    texts = memory("database one", "second row", "heap exhausted", "heap")
    settings = PLAIN | {"synonyms": groups}
    (asked,) = search(BM25(**settings), texts, "database")
    (meant,) = search(BM25(**settings), texts, "db")
    assert meant.id == "o0"
    assert meant.score == asked.score  # no row holds "db", so "database" stands in for it
    assert search(BM25(**settings, synonym_weight=0.0, stand_in_weight=0.0), texts, "db") == ()
    held = memory("database one", "second row", "db third", "heap")
    assert [hit.id for hit in search(BM25(**settings), held, "db")] == ["o2", "o0"]
    assert search(BM25(**settings), held, "db")[1].score == pytest.approx(0.2 * search(BM25(**PLAIN), held, "database")[0].score)
    assert [hit.id for hit in search(BM25(**settings), texts, "out-of-memory")] == ["o2", "o3"]
    assert search(BM25(**settings), memory("out-of-memory", "other"), "heap") == ()
    assert len(search(BM25(**settings), memory("out-of-memory", "other"), "exhausted heap")) == 1


def test_what_is_asked_outweighs_its_being_a_synonym(tmp_path: Path) -> None:
    groups = tmp_path / "groups.yaml"
    groups.write_text("- [db, database]")
    texts = memory("database", "other words")
    both = search(BM25(**PLAIN | {"synonyms": groups}), texts, "db database")
    assert both == search(BM25(**PLAIN), texts, "database")


def test_a_term_finds_longer_terms_at_half_their_idf() -> None:
    texts = memory("configuration here", "other words")
    (whole,) = search(BM25(**PLAIN), texts, "configuration")
    (prefix,) = search(BM25(**PLAIN | {"prefix_weight": 0.5}), texts, "config")
    assert prefix.score == pytest.approx(0.5 * whole.score)
    assert search(BM25(**PLAIN), texts, "config") == ()
    (both,) = search(BM25(**PLAIN | {"prefix_weight": 0.5}), memory("deploy deployment", "x1 y1"), "deploy")
    exact, longer = (search(BM25(**PLAIN), memory("deploy deployment", "x1 y1"), word)[0].score for word in ("deploy", "deployment"))
    assert both.score == pytest.approx(exact + 0.5 * longer)


def test_stems_can_be_switched_off() -> None:
    texts = memory("migrating tables", "other words")
    assert [hit.id for hit in search(BM25(synonyms=None, prefix_weight=0), texts, "migrations")] == ["o0"]
    assert search(BM25(**PLAIN), texts, "migrations") == ()


@pytest.mark.parametrize("arm", [BM25(), Okapi(), Grep()], ids=["bm25", "okapi", "grep"])
class TestEdges:
    def test_nothing_matches_nothing(self, arm: Arm) -> None:
        assert search(arm, [], "cache") == ()
        assert search(arm, memory("", ""), "cache") == ()
        texts = memory("cache", "token", "store")
        for query in ("", "   ", "?!", "zebra"):
            assert search(arm, texts, query) == ()

    def test_k_beyond_the_memory_gives_what_is_there(self, arm: Arm) -> None:
        texts = memory("cache one", "cache two", "cache three", "store", "token", "other", "words")
        assert len(search(arm, texts, "cache", k=50)) == 3
        assert len(search(arm, texts, "cache", k=2)) == 2

    def test_nothing_later_than_the_question(self, arm: Arm) -> None:
        system = Pipeline({"arm": arm})
        system.index(memory("cache one", "other", "cache two", "words", "more", "here"))
        assert system.search("cache", 5, asked_at=START + timedelta(hours=1)).ids == ("o0",)


def test_a_term_in_half_of_the_rows_or_in_all_still_counts() -> None:
    (hit,) = search(BM25(**PLAIN), memory("cache", "token"), "cache")
    assert hit.score == pytest.approx(math.log(2))
    assert all(hit.score > 0 for hit in search(BM25(**PLAIN), memory("cache", "cache"), "cache"))


def test_equal_scores_come_by_id() -> None:
    assert [hit.id for hit in search(BM25(), memory("cache", "cache", "x1", "cache"), "cache")] == ["o0", "o1", "o3"]


def test_grep_counts_substrings_of_longer_words() -> None:
    hits = search(Grep(), memory("Authentication by token", "a tokenizer", "to be"), "auth TOKEN to")
    assert hits == (Hit("o0", 2.0), Hit("o1", 1.0))


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "can't be read"), ("a: [", "not valid YAML"), ("word", "not a list"), ("- [on, off]", "group 1"), ("- word", "group 1")],
)
def test_synonyms_that_cannot_be_used_are_refused(content: str | None, told: str, tmp_path: Path) -> None:
    groups = tmp_path / "groups.yaml"
    if content is not None:
        groups.write_text(content)
    with pytest.raises(InputError, match=told) as refused:
        BM25(synonyms=groups)
    assert "groups.yaml" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_packaged_synonyms_are_words_that_stemming_does_not_join_already() -> None:
    analyzer = Analyzer()
    for group in load_groups(SOFTWARE):
        assert len({tuple(analyzer.terms(word)) for word in group}) == len(group) > 1, group


@pytest.mark.parametrize(
    "setting",
    [{"k1": -1}, {"b": 1.5}, {"synonym_weight": 2}, {"stand_in_weight": 2}, {"prefix_weight": -0.1}, {"k1": math.nan}],
)
def test_numbers_out_of_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(setting))):
        BM25(**setting)


AGENTMEMORY = {"synonym_weight": 0.7, "stand_in_weight": 0.7, "prefix_weight": 0.5, "b": 0.75}

PUBLISHED = {
    "grep": (Grep, (37.0, 55.8, 78.0, 80.3, 82.5)),
    "bm25": (
        lambda folder: BM25(
            AgentmemoryAnalyzer(), folder / "synonyms.json", synonym_weight=0.7, stand_in_weight=0.7, prefix_weight=0.5, b=0.75
        ),
        (43.8, 55.9, 95.0, 82.7, 95.5),
    ),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_rows_come_out(name: str, shared: Path) -> None:
    """R@5, R@10, P@5, NDCG@10 and MRR in percent, over binary labels, twenty results a query."""
    folder = shared / "reference" / "agentmemory-240"
    build, published = PUBLISHED[name]
    system = Pipeline({"arm": build(folder) if name == "bm25" else build()})
    system.index([observation(json.loads(line)) for line in (folder / "observations.jsonl").read_text().splitlines()])
    rows = []
    for line in (folder / "queries.jsonl").read_text().splitlines():
        query = json.loads(line)
        gold = set(query["relevantObsIds"])
        found = [identifier in gold for identifier in system.search(query["query"], 20).ids]
        gain = sum(hit / math.log2(rank + 2) for rank, hit in enumerate(found[:10]))
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(gold))))
        first = found.index(True) + 1 if True in found else math.inf
        rows.append((sum(found[:5]) / len(gold), sum(found[:10]) / len(gold), sum(found[:5]) / 5, gain / ideal, 1 / first))
    means = [100 * sum(column) / len(rows) for column in zip(*rows, strict=True)]
    assert means == pytest.approx(published, abs=0.0501)


def observation(record: dict) -> Observation:
    return Observation(
        id=record["id"],
        session_id=record["sessionId"],
        timestamp=datetime.fromisoformat(record["timestamp"]),
        type=record["type"],
        title=record["title"],
        subtitle=record["subtitle"],
        narrative=record["narrative"],
        facts=tuple(record["facts"]),
        concepts=tuple(record["concepts"]),
        files=tuple(record["files"]),
    )
