"""Query expansion: reformulations by rules and from a file, and the fusion of what they find."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.expansion import ByRules, Expansion, Given
from recallmeter.retrieval.ranking import Ranking


class Canned:
    """A retriever with an answer for each question."""

    def __init__(self, answers: Mapping[str, Sequence[str]]) -> None:
        self.answers, self.asked, self.closed = answers, [], False

    def index(self, observations: Sequence[Observation]) -> None: ...

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        self.asked.append((query, k, scope, asked_at))
        return Ranking.of((identifier, 1 / rank) for rank, identifier in enumerate(self.answers.get(query, ()), start=1))

    def close(self) -> None:
        self.closed = True


class Twice:
    def of(self, query: str) -> Mapping[str, str]:
        return {"other": query + "!"}


class TestExpansion:
    def test_rankings_are_fused_by_reciprocal_rank_with_the_reformulation_at_its_weight(self) -> None:
        ranking = Expansion(Canned({"q": ["a", "b"], "q!": ["c", "b"]}), Twice(), weight=0.5).search("q", 10)
        # shares 2/3 and 1/3: b has 1/62, a 2/3 ÷ 61, c 1/3 ÷ 61
        assert ranking.ids == ("b", "a", "c")
        assert [hit.score for hit in ranking.hits] == pytest.approx([1 / 62, 2 / 3 / 61, 1 / 3 / 61])

    def test_the_best_k_are_returned_and_k_is_asked_for(self) -> None:
        inner = Canned({"q": ["a", "b"], "q!": ["c"]})
        assert len(Expansion(inner, Twice()).search("q", 2, scope="s").hits) == 2
        assert inner.asked == [("q", 2, "s", None), ("q!", 2, "s", None)]

    def test_the_trace_has_a_ranking_for_each_way_of_asking(self) -> None:
        trace = Expansion(Canned({"q": ["a"], "q!": ["b"]}), Twice()).search("q", 2).trace
        assert trace is not None
        assert {name: arm.ids for name, arm in trace.arms.items()} == {"question": ("a",), "other": ("b",)}
        assert {"total", "total.question", "total.other", "total.fusion"} == set(trace.spans)

    def test_nothing_found_is_nothing_returned(self) -> None:
        assert Expansion(Canned({}), Twice()).search("q", 5).hits == ()

    def test_it_closes_what_it_wraps(self) -> None:
        inner = Canned({})
        Expansion(inner).close()
        assert inner.closed

    def test_a_weight_of_nothing_is_refused(self) -> None:
        with pytest.raises(InputError, match="weight 0"):
            Expansion(Canned({}), weight=0)


class TestByRules:
    def test_content_words_parts_and_synonyms(self, tmp_path: Path) -> None:
        groups = tmp_path / "groups.yaml"
        groups.write_text("- [db, database]\n")
        assert ByRules(groups).of("How did we tune the database, and who reviewed it?") == {
            "keywords": "tune database reviewed",
            "part 1": "How did we tune the database",
            "part 2": "who reviewed it",
            "synonyms": "tune database reviewed db",
        }

    def test_what_would_repeat_the_question_is_left_out(self) -> None:
        assert ByRules(synonyms=None).of("redis cache") == {}

    @pytest.mark.parametrize("query", ["", "what is it?", "and, or; and"])
    def test_a_question_without_content_has_no_reformulation(self, query: str) -> None:
        assert ByRules(synonyms=None).of(query) == {}


class TestGiven:
    def test_the_wordings_of_this_very_question(self, tmp_path: Path) -> None:
        path = tmp_path / "wordings.json"
        path.write_text(json.dumps({"q": ["one", "two"]}))
        assert Given(str(path)).of("q") == {"given 1": "one", "given 2": "two"}
        assert Given(str(path)).of("other") == {}

    @pytest.mark.parametrize("content", ["[a, b]", "q: one", "q: [1]", "q: [", "\x00"])
    def test_anything_else_is_refused_in_one_line(self, content: str, tmp_path: Path) -> None:
        path = tmp_path / "wordings.yaml"
        path.write_text(content)
        with pytest.raises(InputError, match=r"wordings\.yaml") as caught:
            Given(str(path))
        assert "\n" not in str(caught.value)

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"none\.yaml: the file of wordings can't be read"):
            Given(str(tmp_path / "none.yaml"))
