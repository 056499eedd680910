"""What configuration names under embedder, index and the three modes is there, and one override swaps it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recallmeter.retrieval.embedders.embedding import CachedEmbedder
from recallmeter.retrieval.pipeline import Pipeline

CONF = Path(__file__).resolve().parents[3] / "conf"
EMBEDDERS = sorted(path.stem for path in (CONF / "embedder").glob("*.yaml"))
INDEXES = sorted(path.stem for path in (CONF / "index").glob("*.yaml"))
NEEDED = {
    "sentence_transformers": ["embedder.encoder.path={folder}"],
    "provider": ["embedder.encoder._target_=recallmeter.VoyageEncoder"],
    "onnx_int8": ["embedder.encoder.package=null", "embedder.encoder.sha256=null"],
}


def built(key: str, *overrides: str) -> Any:
    from hydra import compose, initialize_config_dir
    from hydra.utils import instantiate
    from omegaconf import OmegaConf

    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", overrides=list(overrides))
    return instantiate(OmegaConf.select(config, key), _convert_="all")


@pytest.mark.parametrize("name", EMBEDDERS)
def test_every_embedder_is_built(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "openai")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    found = built(
        "embedder",
        f"embedder={name}",
        f"embedder.cache={tmp_path}",
        *(override.format(folder=tmp_path) for override in NEEDED.get(name, [])),
    )
    assert isinstance(found, CachedEmbedder)


@pytest.mark.parametrize("name", INDEXES)
def test_one_override_swaps_the_index_of_every_system(name: str) -> None:
    systems = [built(f"systems.{system}.arms", "system=[dual,semantic]", f"index={name}") for system in ("dual", "semantic")]
    kinds = {type(systems[0]["vector"].index), type(systems[1]["semantic"].arm.index)}
    assert [kind.__module__.rpartition(".")[2] for kind in kinds] == [name]


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid", "environment"])
def test_every_mode_is_built_without_a_provider(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "none")
    assert isinstance(built(f"systems.{mode}", f"system=[{mode}]", "embedder=environment"), Pipeline)


def test_the_environment_sets_weights_budget_and_rerank(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"EMBEDDING_PROVIDER": "none", "BM25_WEIGHT": "7", "VECTOR_WEIGHT": "-1", "TOKEN_BUDGET": "500", "RERANK_ENABLED": "true"}
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)
    system = built("systems.environment", "system=[environment]")
    assert system.fusion.weights == {"keyword": 1.0, "semantic": 0.6}
    assert list(system.stages) == ["rerank", "budget"]
    assert system.stages["budget"].tokens == 500
    for variable in settings:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("EMBEDDING_PROVIDER", "none")
    plain = built("systems.environment", "system=[environment]")
    assert plain.fusion.weights == {"keyword": 0.4, "semantic": 0.6}
    assert list(plain.stages) == ["budget"]
    assert plain.stages["budget"].tokens == 2000
