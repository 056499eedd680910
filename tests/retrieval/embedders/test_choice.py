"""Which embedder the environment chooses, and what else a memory reads from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.retrieval.embedders.choice import PROVIDERS, NoEmbedder, embedder_from_environment, provider_name
from recallmeter.retrieval.embedders.embedding import CachedEmbedder
from recallmeter.retrieval.embedders.local import SentenceTransformerEncoder
from recallmeter.retrieval.environment import budget_from_environment, enabled_from_environment, weight_from_environment
from recallmeter.retrieval.unavailable import UnavailableError

ORDER = ["gemini", "openai", "voyage", "cohere", "openrouter"]


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMBEDDING_PROVIDER", raising=False)
    for encoder in PROVIDERS.values():
        monkeypatch.delenv(encoder.key.variables[0], raising=False)


def set_keys(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setenv(PROVIDERS[name].key.variables[0], "k")


@pytest.mark.parametrize("first", range(5))
def test_the_first_key_that_is_set_decides(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch, *ORDER[first:])
    assert provider_name() == ORDER[first]


def test_a_named_provider_comes_before_any_key(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch, *ORDER)
    monkeypatch.setenv("EMBEDDING_PROVIDER", " Cohere ")
    assert provider_name() == "cohere"
    monkeypatch.setenv("EMBEDDING_PROVIDER", "none")
    assert provider_name() == "none"


def test_a_blank_key_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "  ")
    set_keys(monkeypatch, "voyage")
    assert provider_name() == "voyage"


def test_with_nothing_set_there_is_no_embedder_and_it_says_what_to_set() -> None:
    built = embedder_from_environment()
    assert isinstance(built, NoEmbedder)
    for call in (lambda: built.embed(["a"]), lambda: built.embed_query("a")):
        with pytest.raises(
            UnavailableError, match=r"no embedding provider is chosen; set \$EMBEDDING_PROVIDER, or one of \$GEMINI_API_KEY"
        ):
            call()


@pytest.mark.parametrize("name", ORDER)
def test_each_provider_is_built(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", name)
    built = embedder_from_environment(str(tmp_path))
    assert isinstance(built, CachedEmbedder)
    assert type(built.encoder) is PROVIDERS[name]
    assert built.model.startswith(f"{name}/")


def test_local_is_the_packaged_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "local")
    built = embedder_from_environment(str(tmp_path))
    assert isinstance(built, CachedEmbedder)
    assert isinstance(built.encoder, SentenceTransformerEncoder)


def test_an_unknown_provider_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "opnai")
    with pytest.raises(InputError, match="EMBEDDING_PROVIDER: no embedding provider 'opnai'; there are: local, gemini, openai"):
        embedder_from_environment()


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("0.7", 0.7),
        ("0", 0.0),
        ("1", 1.0),
        ("7", 1.0),
        ("-1", 0.4),
        ("nan", 0.4),
        ("inf", 0.4),
        ("much", 0.4),
        ("", 0.4),
        (None, 0.4),
        (0.2, 0.2),
    ],
)
def test_a_weight_is_read_or_the_default_and_at_most_one(value: object, read: float) -> None:
    assert weight_from_environment(value, 0.4) == read


@pytest.mark.parametrize(
    ("value", "read"), [("500", 500), ("500.9", 500), ("0", 2000), ("-5", 2000), ("all", 2000), (None, 2000), ("inf", 2000)]
)
def test_a_token_budget_is_read_or_the_default(value: object, read: int) -> None:
    assert budget_from_environment(value, 2000) == read


@pytest.mark.parametrize(
    ("value", "on"),
    [("true", True), ("TRUE", True), ("1", True), ("yes", True), ("false", False), ("0", False), ("", False), (None, False)],
)
def test_a_part_is_there_when_it_is_switched_on(value: object, on: bool) -> None:
    part = object()
    assert enabled_from_environment(value, part) is (part if on else None)
