"""Programs as memories: the examples of the protocol page, and every way in which a program can misbehave."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.loop import Protocol, evaluate
from recallmeter.retrieval.arms.grep import Grep
from recallmeter.retrieval.external.failure import ExternalError
from recallmeter.retrieval.external.process import Process
from recallmeter.retrieval.pipeline import Pipeline

ROOT = Path(__file__).resolve().parents[3]
ROGUE = ROOT / "tests" / "data" / "external" / "rogue.py"
EXAMPLES = ROOT / "docs" / "examples"
START = datetime(2024, 1, 1, tzinfo=UTC)


def observations(scopes: int = 2, each: int = 8) -> list[Observation]:
    return [
        Observation(
            id=f"{scope}-{number}",
            session_id=f"session-{number}",
            timestamp=START + timedelta(days=number),
            type="note",
            title=f"common word{number}",
            narrative=f"only{scope} common" + " rare" * (number == 3),
            scope=f"scope-{scope}",
        )
        for scope in range(scopes)
        for number in range(each)
    ]


def plain() -> Pipeline:
    return Pipeline({"grep": Grep()})


@pytest.fixture
def memory() -> Dataset:
    queries = [
        Query(id=f"q{number}", text="common rare", relevant={f"{number % 2}-3": 1}, scope=f"scope-{number % 2}") for number in range(6)
    ]
    return Dataset(name="two scopes", observations=tuple(observations()), queries=tuple(queries))


@pytest.fixture
def rogue() -> Iterator[object]:
    started = []

    def start(mode: str, **settings) -> Process:
        started.append(Process([sys.executable, str(ROGUE), mode], **settings))
        return started[-1]

    yield start
    for process in started:
        process.close()


MISBEHAVIOURS = {
    "exit": (
        "ended during search with exit code 3; its last words: search 3: about to misbehave",
        "not asked any more, since it ended during search",
    ),
    "kill": (
        "ended during search by signal 9; its last words: search 3: about to misbehave",
        "not asked any more, since it ended during search",
    ),
    "hang": ("gave no answer to search within 0.5 s; its last words: search 3", "not asked any more, since it gave no answer to search"),
    "rubbish": ("printed what is not JSON: 'Loaded 240 memories!'", "not asked any more, since it printed what is not JSON"),
    "half": ("broke off its answer to search after 20 bytes with exit code 0", "not asked any more"),
    "list": ("gave no answer to message 5 but '[]'", "not asked any more, since it gave no answer to message 5"),
    "error": ("says 'index is corrupt'", "says 'index is corrupt'"),
    "unknown": ("unknown id ('?o9999')", "unknown id ('?o9999')"),
    "scope": ("other scope ('1-0' of 'scope-1', asked in 'scope-0')", "other scope ('0-0' of 'scope-0', asked in 'scope-1')"),
    "more": ("more than k (6 for k = 5)", "more than k (6 for k = 5)"),
    "nan": ("score not finite ('0-0' at nan)", "score not finite ('1-0' at nan)"),
    "null": ("score not finite ('0-0' at nan)", "score not finite ('1-0' at nan)"),
    "text": ('hits[0]: the score is no number: "0.9"', 'hits[0]: the score is no number: "0.9"'),
    "duplicate": ("id twice ('0-0' again at rank 2)", "id twice ('1-0' again at rank 2)"),
    "unsorted": ("scores out of order", "scores out of order"),
    "no-id": ("no 'id' in hits[0]", "no 'id' in hits[0]"),
    "no-hits": ("no 'hits' in the answer", "no 'hits' in the answer"),
}


def test_every_misbehaviour_is_named_and_fatal_to_nobody_else(memory, rogue):
    systems = {mode: rogue(mode, search_timeout=0.5 if mode == "hang" else 20) for mode in MISBEHAVIOURS}
    results = {
        result.name: result.answers
        for result in evaluate(
            memory, {"before": plain(), **systems, "after": plain()}, Protocol(k=5, warm_up=0, repeats=1), progress=False
        )
    }
    for neighbour in ("before", "after"):
        assert {answer.status for answer in results[neighbour].values()} == {"ok"}
    for mode, (third, fourth) in MISBEHAVIOURS.items():
        answers = results[mode]
        assert [answers[f"q{number}"].status for number in range(6)] == ["ok", "ok", "failed", "failed", "failed", "failed"], mode
        assert third in answers["q2"].error, mode
        assert fourth in answers["q3"].error, mode


def test_an_answer_that_comes_twice_is_never_taken_for_the_next_one(memory, rogue):
    [result] = evaluate(memory, {"twice": rogue("twice")}, Protocol(k=5, warm_up=0, repeats=1), progress=False)
    assert [answer.status for answer in result.answers.values()] == ["ok", "ok", "ok", "failed", "failed", "failed"]
    assert "gave no answer to message 6 but" in result.answers["q3"].error


def test_a_program_that_hangs_is_waited_for_once(rogue):
    system = rogue("hang", search_timeout=0.3)
    system.index(observations())
    for _ in range(2):
        system.search("common", 5, scope="scope-0")
    began = time.monotonic()
    for _ in range(50):
        with pytest.raises(ExternalError):
            system.search("common", 5, scope="scope-0")
    assert time.monotonic() - began < 5


def test_a_program_that_does_not_read_does_not_block_us(rogue):
    system = rogue("deaf", index_timeout=0.5)
    with pytest.raises(ExternalError, match=r"gave no answer to index within 0.5 s"):
        system.index(observations(scopes=1, each=2000))


def test_a_program_that_floods_standard_error_is_not_blocked_by_it(rogue):
    system = rogue("noisy")
    system.index(observations())
    assert len(system.search("common", 5, scope="scope-1").hits) == 5


def test_what_a_program_started_ends_with_it(rogue):
    system = rogue("grandchild", search_timeout=0.5)
    system.index(observations())
    for _ in range(2):
        system.search("common", 5, scope="scope-0")
    began = time.monotonic()
    with pytest.raises(ExternalError) as caught:
        system.search("common", 5, scope="scope-0")
    assert time.monotonic() - began < 20  # it would sleep for a minute
    grandchild = int(str(caught.value).split("last words: ")[1].split()[0])
    deadline = time.monotonic() + 5
    while _runs(grandchild) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _runs(grandchild)


def _runs(pid: int) -> bool:
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text() if Path("/proc").is_dir() else os.kill(pid, 0) is None
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_indexing_again_starts_from_nothing(rogue):
    system = rogue("none")
    system.index(observations())
    system.index(observations(scopes=1, each=1))
    assert [hit.id for hit in system.search("common", 5, scope="scope-0").hits] == ["0-0"]
    assert system.search("common", 5, scope="scope-1").hits == ()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"command": "no-such-program-here --flag"}, "no program 'no-such-program-here'"),
        ({"command": ""}, "no command given"),
        ({"command": "true", "cwd": "/no/such/folder"}, "no such folder"),
        ({"command": "true", "search_timeout": 0}, "search_timeout is 0"),
        ({"command": "true", "oversample": 0}, "oversample is 0"),
    ],
)
def test_settings_are_checked_before_anything_runs(settings, told):
    with pytest.raises(InputError, match=told):
        Process(**settings)


EXAMPLE_COMMANDS = {
    "Python": ([sys.executable, "memory.py"], None),
    "JavaScript": (["node", "memory.mjs"], "node"),
    "shell": (["sh", "memory.sh"], "jq"),
}


@pytest.mark.parametrize("language", EXAMPLE_COMMANDS)
def test_the_examples_of_the_protocol_page_keep_the_contract(language, memory):
    command, needs = EXAMPLE_COMMANDS[language]
    if needs and shutil.which(needs) is None:
        pytest.skip(f"the {language} example needs {needs}")
    system = Process(command, cwd=str(EXAMPLES))
    [result] = evaluate(memory, {language: system}, Protocol(k=5, warm_up=1, repeats=2), progress=False)
    assert {answer.error for answer in result.answers.values()} == {""}
    assert [result.answers[f"q{number}"].hits[0].id for number in range(2)] == ["0-3", "1-3"]
    system.index(memory.observations)
    past = system.search("common", 20, scope="scope-0", asked_at=START + timedelta(days=2))
    assert past.ids == ("0-0", "0-1", "0-2")
    assert system.search("nowhere", 5, scope="scope-0").ids == ()
    system.close()


def test_the_examples_in_python_and_javascript_agree(memory):
    if shutil.which("node") is None:
        pytest.skip("needs node")
    systems = {language: Process(EXAMPLE_COMMANDS[language][0], cwd=str(EXAMPLES)) for language in ("Python", "JavaScript")}
    python, javascript = evaluate(memory, systems, Protocol(k=5, warm_up=0, repeats=1), progress=False)
    assert {q: a.hits for q, a in python.answers.items()} == {q: a.hits for q, a in javascript.answers.items()}
