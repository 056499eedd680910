"""The knowledge graph: what it is built from, what a walk over it scores, and what it adds to a fusion."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.arms.entities import entities, parts
from recallmeter.retrieval.arms.graph import Graph
from recallmeter.retrieval.arms.grep import Grep
from recallmeter.retrieval.arms.knowledge import KINDS, KnowledgeGraph
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.fusion import WeightedRRF
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.text.analysis import Analyzer

START = datetime(2026, 1, 1, tzinfo=UTC)
NO_SESSIONS = {"session": 0.0}


def observation(number: int, title: str, **fields: Any) -> Observation:
    fields = {"session_id": f"s{number}", "timestamp": START + timedelta(hours=number), "type": "note"} | fields
    return Observation(id=f"o{number}", title=title, **fields)


def found(arm: Graph, observations: list[Observation], text: str, earlier: Candidates | None = None, **question: Any) -> dict[str, float]:
    corpus = Corpus.of(observations)
    hits = {} if earlier is None else {"vector": earlier}
    candidates = arm.build(corpus).search(Question(text, earlier=hits, **question), 20)
    return {corpus.ids[row]: score for row, score in zip(candidates.rows, candidates.scores, strict=True)}


def hits(*rows: int) -> Candidates:
    return Candidates(np.array(rows, np.int64), np.linspace(1.0, 0.5, len(rows)))


def test_names_are_quoted_capitalised_or_written_like_code() -> None:
    text = (
        'Moved Redis behind "connection pool" because `kh sessions` timed out. Then session_store.ts called getUser with ECONNRESET in v2.'
    )
    assert set(entities(text)) == {"connection pool", "kh sessions", "Redis", "session_store.ts", "getUser", "ECONNRESET", "v2"}
    assert list(entities("How did The cache work? Why not?")) == []
    assert list(entities("把“连接池”移到Redis之后，续期HTTPS证书")) == ["连接池", "Redis", "HTTPS"]


def test_a_name_is_taken_apart_at_its_joints() -> None:
    plain = Analyzer(stem=False)
    assert parts("src/auth/tokenRefresh.ts and TypeScript", plain) == ["src", "auth", "token", "refresh", "ts", "typescript"]


def test_observations_are_joined_by_what_they_share() -> None:
    graph = KnowledgeGraph.of(
        [
            observation(0, "Cache added", concepts=("caching",), files=("src/cache.ts",), session_id="s"),
            observation(1, "Other file touched", files=("src/cache.ts",), session_id="s"),
            observation(2, "The caching again", superseded_by="o3"),
            observation(3, "No more of it"),
        ],
        Analyzer(),
    )
    joined = {
        frozenset(graph.rows.of(node).tolist()): graph.weights[node] for node in range(len(graph.weights)) if len(graph.rows.of(node)) > 1
    }
    share = math.log(1 + 4 / 2) / math.log(5)
    assert joined[frozenset({2, 3})] == pytest.approx(KINDS["superseded"] * share)
    assert frozenset({0, 2}) in joined
    assert joined[frozenset({0, 1})] > KINDS["session"] * share * (1 - 1e-9)  # logarithms differ in the last bit between processors
    for node in range(len(graph.weights)):
        for row in graph.rows.of(node):
            assert node in graph.nodes.of(row)


def test_what_holds_the_named_node_comes_first_and_its_neighbours_after() -> None:
    memory = [
        observation(0, "We chose Redis", concepts=("sessions",)),
        observation(1, "Cookies shortened", concepts=("sessions",)),
        observation(2, "Nothing in common"),
    ]
    graph = KnowledgeGraph.of(memory, Analyzer(), KINDS | NO_SESSIONS)
    scores = found(Graph(kinds=NO_SESSIONS), memory, "What of Redis?")
    (redis,), _ = graph.named_by({"redi": 1.0})
    (sessions,), _ = graph.named_by({"session": 1.0})
    assert scores == pytest.approx({"o0": 1.0, "o1": (graph.weights[redis] + graph.weights[sessions]) / 2 / 2})
    assert found(Graph(kinds=NO_SESSIONS, depth=1), memory, "What of Redis?") == {"o0": 1.0}


def test_the_best_of_several_paths_counts() -> None:
    memory = [
        observation(0, "a", concepts=("rare", "common")),
        observation(1, "b", concepts=("rare", "common")),
        observation(2, "c", concepts=("common",)),
    ]
    graph = KnowledgeGraph.of(memory, Analyzer(), KINDS | NO_SESSIONS)
    assert found(Graph(kinds=NO_SESSIONS), memory, "none", hits(0)) == pytest.approx({"o1": graph.weights.max(), "o2": graph.weights.min()})


def test_of_two_kinds_of_one_name_the_stronger_counts() -> None:
    for memory in (
        [observation(0, "Now Redis", concepts=("redis",))],
        [observation(0, "x", concepts=("redis",)), observation(1, "Now Redis")],
    ):
        graph = KnowledgeGraph.of(memory, Analyzer(), KINDS | NO_SESSIONS)
        ((redis,), _) = graph.named_by({"redi": 1.0})
        share = math.log(1 + len(memory) / len(graph.rows.of(redis))) / math.log(1 + len(memory))
        assert graph.weights[redis] == pytest.approx(max(KINDS["concept"], KINDS["name"]) * share)


def test_case_does_not_hide_a_name_but_a_name_outweighs_a_plain_word() -> None:
    memory = [observation(0, "We chose Redis"), observation(1, "We chose Postgres"), observation(2, "Words")]
    scores = found(Graph(), memory, "redis or Postgres")
    assert list(scores) == ["o1", "o0"]
    assert found(Graph(), memory, "redis") == {"o0": 1.0}
    assert found(Graph(plain_weight=0), memory, "redis") == {}


def test_a_node_is_named_by_half_of_its_parts() -> None:
    memory = [observation(0, "x", concepts=("token refresh",)), observation(1, "y", concepts=("token bucket rate limit",))]
    assert list(found(Graph(kinds=NO_SESSIONS), memory, "refresh")) == ["o0"]
    assert found(Graph(kinds=NO_SESSIONS), memory, "limit") == {}


def test_the_best_hits_of_an_earlier_arm_lead_to_their_neighbours() -> None:
    memory = [observation(0, "a", files=("shell.ts",)), observation(1, "b", files=("shell.ts",)), observation(2, "c", files=("page.css",))]
    assert list(found(Graph(), memory, "nothing named", hits(0))) == ["o1"]
    assert found(Graph(expand=0), memory, "nothing named", hits(0)) == {}
    assert found(Graph(earlier="bm25"), memory, "nothing named", hits(0)) == {}
    assert found(Graph(), memory, "nothing named", Candidates.none()) == {}


def test_a_name_of_one_letter_joins_nothing_and_a_path_may_have_a_colon() -> None:
    memory = [observation(0, "a", concepts=("c",)), observation(1, "b", concepts=("d",)), observation(2, "e", files=("c:/work/main.py",))]
    assert found(Graph(), memory, "none", hits(0)) == {}
    assert "o2" in found(Graph(), memory, "work main.py")


def test_a_hit_that_does_not_resemble_the_question_leads_nowhere() -> None:
    memory = [observation(0, "a", files=("shell.ts",)), observation(1, "b", files=("shell.ts",))]
    assert found(Graph(), memory, "none", Candidates(np.array([0]), np.array([0.0]))) == {}
    assert found(Graph(), memory, "none", Candidates(np.array([0]), np.array([-0.2]))) == {}


def test_a_hub_is_not_walked_through() -> None:
    memory = [observation(i, f"n{i}", concepts=("everywhere",)) for i in range(6)]
    assert set(found(Graph(fan_out=6), memory, "none", hits(0))) == {f"o{i}" for i in range(1, 6)}
    assert found(Graph(fan_out=5), memory, "none", hits(0)) == {}


def test_nothing_of_the_future_is_found_or_walked_through() -> None:
    memory = [
        observation(0, "early", concepts=("bridge",)),
        observation(1, "later Redis", concepts=("bridge",)),
        observation(2, "Earlier Redis of old", session_id="z"),
    ]
    now = np.array([True, False, True])
    assert set(found(Graph(), memory, "Redis")) == {"o0", "o1", "o2"}
    assert set(found(Graph(), memory, "Redis", visible=now)) == {"o2"}
    assert "o1" not in found(Graph(), memory, "x", hits(0), visible=now)


def test_nothing_named_and_nothing_remembered_give_nothing() -> None:
    for memory, text in (([], "Redis"), ([observation(0, "")], "Redis"), ([observation(0, "We chose Redis")], ""), ([], "")):
        assert found(Graph(), memory, text) == {}


def test_a_third_arm_changes_the_answer_and_its_absence_does_not() -> None:
    memory = [
        observation(0, "Grey tablet morning", narrative="kiosk stayed grey", files=("worker.ts",)),
        observation(1, "Offline shell", files=("worker.ts",)),
        observation(2, "Grey paint in the morning"),
    ]

    def answer(**arms: Any) -> tuple[str, ...]:
        weights = {"one": 0.4, "two": 0.6, "graph": 0.3}
        system = Pipeline(arms, WeightedRRF({arm: weights[arm] for arm in arms}))
        system.index(memory)
        return system.search("which file made the tablet grey", 10).ids

    dual = answer(one=Grep(), two=Grep())
    assert answer(one=Grep(), two=Grep(), graph=None) == dual
    assert set(answer(one=Grep(), two=Grep(), graph=Graph(earlier="two"))) - set(dual) == {"o1"}


@pytest.mark.parametrize("setting", [{"kinds": {"files": 1.0}}, {"depth": 3}, {"kinds": {"file": -1.0}}, {"fan_out": -1}])
def test_settings_that_mean_nothing_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Graph(**setting)
