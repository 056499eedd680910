"""The default analysis: compounds and their parts, code as it is written, no stop words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.text.analysis import Analyzer

PLAIN = Analyzer(stem=False)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("package-manager", ["package-manager", "package", "manager"]),
        ("src/auth/session.ts", ["src/auth/session.ts", "src", "auth", "session", "ts"]),
        ("user_id", ["user_id", "user", "id"]),
        ("getUserById()", ["getuserbyid", "get", "user", "id"]),
        ("HTMLParser, IDs", ["htmlparser", "html", "parser", "ids"]),
        ("TypeScript on GitHub", ["typescript", "github"]),
        ("C++ and C#, F#.", ["c++", "c#", "f#"]),
        ("ASP.NET or .NET 8", ["asp.net", "asp", "net", ".net", "net", "8"]),
        ("issue#12 #12", ["issue", "12", "12"]),
        ("4.17.21", ["4.17.21", "4", "17", "21"]),
        ("--no-verify", ["no-verify", "verify"]),
        ("party 🎉!", ["party", "🎉"]),
        ("❤️", ["❤"]),
        ("don't, John’s, we'll, O'Brien", ["john", "o", "brien"]),
        ("end. -- (next)", ["end", "next"]),
        ("ＴＳ ﬁne Größe", ["ts", "fine", "grosse"]),
        ("the of and", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert PLAIN.terms(text) == terms


def test_each_part_of_the_analysis_can_be_left_out() -> None:
    assert Analyzer(stop_words=False).terms("the caching") == ["the", "cach"]
    assert Analyzer(fold=False).terms("café") == ["café"]
    assert Analyzer("de").terms("the was") == ["the", "was"]  # English function words are words of other languages


def test_chinese_function_words_match_nothing_on_their_own() -> None:
    assert Analyzer(segmentation="bigrams").terms("我 的 辣椒") == ["辣椒"]


CODE = {
    "camel": "Renamed getUserById in the account module",
    "snake": "column user_id is now a bigint",
    "path": "Fixed the race in src/auth/session.ts",
    "cpp": "The parser was ported to C++ last week",
    "csharp": "Billing service is written in C#",
    "net": "Upgraded to .NET 8",
    "emoji": "Release party 🎉 on Friday",
    "semver": "Pinned lodash to 4.17.21",
    "flag": "Pass --no-verify to skip hooks",
    "acronym": "HTMLParser leaks memory",
    "filler": "Lunch menu changed",
}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("user id", "snake"),
        ("session.ts", "path"),
        ("C++", "cpp"),
        ("C#", "csharp"),
        (".NET", "net"),
        ("🎉", "emoji"),
        ("4.17.21", "semver"),
        ("no-verify", "flag"),
        ("html parser", "acronym"),
    ],
)
def test_code_is_found_as_it_is_written(query: str, found: str) -> None:
    assert search(query)[0] == found


def test_an_identifier_is_found_by_its_words() -> None:
    assert set(search("user by id lookup function")) == {"camel", "snake"}


def search(query: str) -> tuple[str, ...]:
    system = Pipeline({"bm25": BM25()})
    start = datetime(2026, 1, 1, tzinfo=UTC)
    system.index([Observation(id=i, session_id="s", timestamp=start, type="n", title=text) for i, text in CODE.items()])
    return system.search(query, 10).ids
