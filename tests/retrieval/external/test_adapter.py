"""What an external system is shown, and how its answers come back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.external.adapter import ASKING, Adapter
from recallmeter.retrieval.external.answers import pick, read_hits
from recallmeter.retrieval.external.extras import require
from recallmeter.retrieval.external.failure import ExternalError
from recallmeter.retrieval.text.rendering import indexed_text


def observation(identifier: str, scope: str = "q_abs", **fields) -> Observation:
    return Observation(
        id=identifier,
        session_id="answer_7",
        timestamp=datetime(2024, 1, 1, tzinfo=UTC),
        type="note",
        title=identifier,
        scope=scope,
        **fields,
    )


class Recorder(Adapter):
    """Answers what it was told to, and keeps what it was shown."""

    def __init__(self, answer, chunked=False, oversample=1):
        self.answer, self.chunked, self.oversample = answer, chunked, oversample
        self.partitions, self.asked = [], []

    def build(self, partition):
        self.partitions.append(partition)
        recorder = self

        class Store:
            def search(self, query, k, asked_at):
                recorder.asked.append((query, k, asked_at))
                ASKING.get().notes.append("seen")
                return recorder.answer

        return Store()


def test_a_system_sees_opaque_ids_and_nothing_else_of_the_names():
    system = Recorder([])
    system.index([observation("secret-2", files=("a.py",)), observation("secret-1"), observation("other", scope="gold")])
    shown = [(partition.name, [document.as_record() for document in partition.documents]) for partition in system.partitions]
    assert [(name, [record["id"] for record in records]) for name, records in shown] == [
        ("s0001", ["o0001"]),
        ("s0002", ["o0002", "o0003"]),
    ]
    texts = [record.pop("text") for _, records in shown for record in records]
    assert texts == [indexed_text(o) for o in (observation("other"), observation("secret-1"), observation("secret-2", files=("a.py",)))]
    for name in ("secret", "other", "gold", "q_abs", "answer_7"):
        assert name not in str(shown)


def test_opaque_ids_keep_the_order_of_the_real_ones_beyond_their_usual_width():
    system = Recorder([])
    names = [f"x{number}" for number in range(10_050)]
    system.index([observation(name) for name in names])
    assert [d.id for d in system.partitions[0].documents] == sorted(d.id for d in system.partitions[0].documents)
    assert [d.text.split()[0] for d in system.partitions[0].documents] == sorted(names)


def test_hits_come_back_under_their_own_ids_and_unrepaired():
    system = Recorder([("o0002", 2.0), ("o0002", 3.0), ("o0009", 1.0)])
    system.index([observation("a"), observation("b")])
    ranking = system.search("words", 1, scope="q_abs")
    assert ranking.hits == (("b", 2.0), ("b", 3.0), ("?o0009", 1.0))
    assert system.asked == [("words", 1, None)]
    assert ranking.trace is not None
    assert ranking.trace.notes == ["seen"]
    assert list(ranking.trace.spans) == ["total"]


def test_chunks_become_observations_by_their_best_and_the_mapping_is_told():
    system = Recorder([("o0002", 0.9), ("o0002", 0.95), ("o0001", 0.8), ("o0002", 0.2), ("o0003", 0.1)], chunked=True, oversample=3)
    system.index([observation("a"), observation("b"), observation("c")])
    ranking = system.search("words", 2, scope="q_abs")
    assert ranking.hits == (("b", 0.95), ("a", 0.8))
    assert system.asked == [("words", 6, None)]
    assert ranking.trace is not None
    assert ranking.trace.notes == ["seen", "5 chunks of 3 observations; each counts with its best chunk"]


def test_no_scope_no_k_no_question():
    system = Recorder([("o0001", 1.0)])
    assert system.search("words", 3).hits == ()
    system.index([observation("a")])
    assert system.search("words", 3, scope="elsewhere").hits == ()
    assert system.search("words", 0, scope="q_abs").hits == ()
    assert system.asked == []
    system.close()
    assert system.search("words", 3, scope="q_abs").hits == ()


def test_an_index_that_fails_leaves_nothing_open():
    class Half(Recorder):
        closed = 0

        def build(self, partition):
            if partition.name == "s0002":
                raise RuntimeError("full")
            return super().build(partition)

        def close(self):
            super().close()
            self.closed += 1

    system = Half([("o0001", 1.0)])
    with pytest.raises(RuntimeError, match="full"):
        system.index([observation("a", scope="one"), observation("b", scope="two")])
    assert system.closed == 2
    assert system.search("words", 3, scope="one").hits == ()


def test_a_path_leads_through_objects_and_lists():
    value = {"data": [{"hits": [1]}, {"hits": [2, 3]}], "7": "seven"}
    assert pick(value, "data.1.hits.0") == 2
    assert pick(value, "data.-1.hits") == [2, 3]
    assert pick(value, "7") == "seven"
    assert pick(value, "") is value
    for path in ("data.2", "data.x", "nothing", "7.x"):
        with pytest.raises(KeyError):
            pick(value, path)


def test_hits_are_read_where_the_paths_say():
    answer = {"results": [{"meta": {"ref": "o2"}, "d": 3}, {"meta": {"ref": "o1"}, "d": 4.5}]}
    assert read_hits("S", answer, hits="results", id="meta.ref", score="d") == [("o2", 3.0), ("o1", 4.5)]
    assert read_hits("S", answer, hits="results", id="meta.ref", score=None) == [("o2", 1.0), ("o1", 0.5)]
    assert read_hits("S", [{"id": "o1", "score": 1}], hits="") == [("o1", 1.0)]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({}, "no 'hits' in the answer: {}"),
        ({"hits": 7}, "'hits' is no list: 7"),
        ({"hits": ["o1"]}, "no 'id' in hits[0]: \"o1\""),
        ({"hits": [{"id": "o1", "score": 1}, {"id": 2, "score": 1}]}, "hits[1]: the id is no text: 2"),
        ({"hits": [{"id": "o1"}]}, "no 'score' in hits[0]"),
        ({"hits": [{"id": "o1", "score": "1"}]}, 'hits[0]: the score is no number: "1"'),
        ({"hits": [{"id": "o1", "score": True}]}, "hits[0]: the score is no number: true"),
    ],
)
def test_what_is_no_answer_is_told_by_its_place(answer, told):
    with pytest.raises(ExternalError) as caught:
        read_hits("S", answer)
    assert f"S: {told}" in str(caught.value)


def test_a_missing_extra_is_one_line_with_the_remedy():
    with pytest.raises(InputError) as caught:
        require("no_such_package_at_all", "chroma")
    assert str(caught.value) == 'chroma: no_such_package_at_all is not installed; pip install "recallmeter[chroma]"'
