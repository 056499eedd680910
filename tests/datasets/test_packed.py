"""Packed records behave as the dataclass they were."""

from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import FrozenInstanceError, dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recallmeter.datasets.packed import packed


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    id: str
    title: str = ""
    facts: tuple[str, ...] = ()


@packed("title", "facts")
@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    id: str
    title: str = ""
    facts: tuple[str, ...] = ()


ANY = st.text(st.characters(), max_size=20)  # lone surrogates and NUL included


@given(ANY, st.lists(ANY, max_size=4).map(tuple))
def test_every_text_comes_back(title: str, facts: tuple[str, ...]) -> None:
    record = Small(id="a", title=title, facts=facts)
    assert (record.id, record.title, record.facts) == ("a", title, facts)
    assert record == Small(id="a", title=title, facts=facts) == replace(Small(id="a"), title=title, facts=facts)
    assert pickle.loads(pickle.dumps(record)) == copy.deepcopy(record) == record
    assert hash(record) == hash(copy.copy(record))
    assert repr(record) == repr(Plain(id="a", title=title, facts=facts)).replace("Plain", "Small")


def test_defaults_hold_and_nothing_can_be_set() -> None:
    record = Small(id="a")
    assert (record.title, record.facts) == ("", ())
    with pytest.raises(FrozenInstanceError):
        record.title = "b"  # type: ignore[misc]


def test_it_is_smaller() -> None:
    content = {"title": "A title of “some” length, “quoted”", "facts": tuple(f"fact number {n} – short" for n in range(5))}
    plain, small = Plain(id="a", **content), Small(id="a", **content)
    piece = Small.title._piece.__get__(small)  # type: ignore[attr-defined]
    whole = sys.getsizeof(plain.title) + sys.getsizeof(plain.facts) + sum(map(sys.getsizeof, plain.facts))
    assert sys.getsizeof(piece) < whole / 2
