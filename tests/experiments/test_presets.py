"""Experiment presets: each composes, can be built, and claims only what it can measure; a run with claims is told and reported."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from recallmeter.evaluation.judging.claims import Claim, meaning
from recallmeter.experiments.cli import main
from recallmeter.experiments.composition import build, plain

CONF = Path(__file__).parents[2] / "conf"
PRESETS = sorted(path.stem for path in CONF.glob("experiment/*.yaml") if "claim:" in path.read_text(encoding="utf-8"))
STAGES = sorted(path.stem for path in CONF.glob("stage/*.yaml"))


@cache
def composed(*overrides: str):
    from hydra import compose, initialize_config_dir

    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", overrides=list(overrides))


def test_every_claim_of_the_pipeline_has_its_preset() -> None:
    wanted = {
        "agreement_bonus",
        "dynamic_cutoff",
        "embedding_dimensions",
        "fusion_weights",
        "ingest",
        "languages",
        "mmr",
        "session_cap",
        "synonyms",
        "time_decay",
    }
    assert wanted <= set(PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_claims_what_its_own_systems_can_show(name: str) -> None:
    config = composed(f"experiment={name}")
    block = plain(config.claim)
    systems = set(config.systems)
    claims = [Claim(**{"baseline": block["baseline"], **claim}) for claim in block["claims"]]
    assert {claim.system for claim in claims} | {claim.baseline for claim in claims} | set(block["labels"]) <= systems
    assert all(map(meaning, {claim.measure for claim in claims} | set(block["measures"])))
    assert config.name == name.replace("_", "-")


@pytest.mark.parametrize("name", PRESETS)
def test_a_presets_systems_can_be_built_and_differ(name: str) -> None:
    config = composed(f"experiment={name}")
    specifications = plain(config.systems)
    assert len({str(specification) for specification in specifications.values()}) == len(specifications)
    for system, specification in specifications.items():
        assert hasattr(build(specification, f"systems.{system}"), "search")


def test_every_stage_can_be_put_into_a_system_on_the_command_line() -> None:
    config = composed("system=dual", *(f"+stage@systems.dual.stages.{name}_too={name}" for name in STAGES))
    assert {f"{name}_too" for name in STAGES} < set(build(config.systems.dual, "systems.dual").stages)


CLAIM = (
    "+claim={question: Does BM25 beat a scan?, baseline: grep, measures: [mrr], "
    "claims: [{says: it ranks better, system: bm25, measure: mrr, expect: higher}]}"
)


def test_a_run_tells_verdict_and_waterfall_and_its_report_is_the_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "system=[grep,bm25]", "hydra.run.dir=out", "protocol.repeats=1", "trace=console", CLAIM]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("- “it ranks better” ") for line in lines)
    assert not any("**" in line for line in lines)
    assert sum(line.startswith("total ") for line in lines) == 2, "the slowest query of each system is drawn"
    assert any(line.startswith("  bm25 ") and line.endswith(" found") for line in lines)
    assert lines[-1] == "out"
    assert main(["report", "out", "-o", "claims.md"]) == 0
    assert (tmp_path / "claims.md").read_text().startswith("# Does BM25 beat a scan?\n\n**")


def test_an_unknown_trace_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "system=grep", "hydra.run.dir=out", "trace=consle"]) == 2
    assert "trace is 'consle'; use console, otlp or null" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
