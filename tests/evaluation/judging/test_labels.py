"""Holes in the judgments: how many relevant ones would turn a verdict, against counting by hand and scoring anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recallmeter.datasets.model import Query
from recallmeter.evaluation.judging.compare import Results, pair
from recallmeter.evaluation.judging.labels import Holes, holes, judged_share, sensitivity

QUERIES = {f"q{n}": Query(id=f"q{n}", text="?", relevant={f"right {n}": 1}) for n in range(10)}


def results(label: str, value: float, found: list[str], measure: str = "recall@1") -> Results:
    names = tuple(sorted(QUERIES))
    rankings = {name: [one.format(name[1:]) for one in found] for name in names}
    return Results(label, "f", names, {measure: np.full(10, value)}, rankings, dict.fromkeys(names, ""))


def test_each_hole_takes_off_what_it_is_worth() -> None:
    winner, loser = results("winner", 1.0, ["right {}"]), results("loser", 0.0, ["hole {}"])
    # a second relevant observation leaves recall@1 at a half on both sides, so each filled hole takes 1 of 10 off the lead
    for better, pairing in ((1, pair(loser, winner)), (-1, pair(winner, loser))):
        asked = pairing.queries
        assert holes(pairing, "recall@1", asked, QUERIES, better, lambda d: abs(d.mean()) > 0.45) == Holes("loser", 10, 6)
        assert holes(pairing, "recall@1", asked, QUERIES, better, lambda d: True) == Holes("loser", 10, None)


def test_the_most_telling_hole_comes_first_and_what_both_found_turns_nothing() -> None:
    winner, loser = results("winner", 1.0, ["right {}", "both {}"], "ndcg@2"), results("loser", 0.0, ["hole {}", "both {}"], "ndcg@2")
    pairing = pair(winner, loser)
    seen: list[float] = []

    def stands(differences: np.ndarray) -> bool:
        seen.append(float(differences.mean()))
        return True

    found = holes(pairing, "ndcg@2", pairing.queries, QUERIES, -1, stands)
    assert found == Holes("loser", 10, None)
    both = 1 + 1 / np.log2(3)  # one relevant observation stands first on either side once all holes are filled
    assert seen[-1] == pytest.approx(1 / both - 1 / both)


def test_nothing_is_said_where_the_rankings_do_not_give_the_values_or_all_is_judged() -> None:
    winner, loser = results("winner", 1.0, ["right {}"]), results("loser", 0.0, ["hole {}"])
    wrong = results("winner", 0.7, ["right {}"])
    pairing = pair(wrong, loser)
    assert holes(pairing, "recall@1", pairing.queries, QUERIES, -1, lambda d: True) is None
    known = {name: Query(id=name, text="?", relevant=query.relevant, irrelevant=(f"hole {name[1:]}",)) for name, query in QUERIES.items()}
    pairing = pair(winner, loser)
    assert holes(pairing, "recall@1", pairing.queries, known, -1, lambda d: True) is None


def test_how_much_was_judged() -> None:
    side = results("one", 0.0, ["right {}", "hole {}", "other {}", "more {}"])
    assert judged_share(side, QUERIES, list(QUERIES)) is None  # nobody wrote down what does not answer
    known = {**QUERIES, "q0": replace(QUERIES["q0"], irrelevant=("hole 0", "other 0"))}
    assert judged_share(side, known, list(known)) == pytest.approx((0.75 + 9 * 0.25) / 10)
    assert judged_share(results("none", 0.0, []), known, list(known)) is None


def test_it_is_said_in_words() -> None:
    assert sensitivity(Holes("bm25", 98, 3), "to pass") == "3 of the 98 unjudged hits of bm25 would have to be relevant to pass"
    assert sensitivity(Holes("bm25", 98, None), "to pass").startswith("not even all 98 unjudged hits of bm25")
