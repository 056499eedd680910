"""Sabotage: the default systems broken in known ways, to see whether the gate notices.

    python -m recallmeter.experiments.studies.sabotage [OVERRIDE …]

One run of the sound systems is the baseline; each sabotage is one run of one system against it, judged by the default rules.
Printed, as Markdown, for each rule: the drop that was measured, the minimum detectable effect that the gate states, and the
verdict. A sabotage whose drop exceeds the stated effect must be a REGRESSION; a system run again untouched must PASS.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from ...evaluation.judging.baseline import baseline_of
from ...evaluation.judging.gate import gate
from ...evaluation.measures.numbers import shift
from ...reports.gate import rows as cells
from ...reports.table import markdown
from ...retrieval.arms.links import Links
from ...retrieval.corpus import Candidates, Corpus, Question
from ...retrieval.embedders.embedding import Kind, Vectors
from ..composition import composed
from ..doors.run import run_config
from ..rules import changed, rules_named


class Noise:
    """An encoder that knows nothing: a random direction for each text, the same each time.

    It takes the settings of the encoder whose place it takes, and heeds none but the batch size.
    """

    model = "noise"

    def __init__(self, batch_size: int = 32, **_: object) -> None:
        self.batch_size = batch_size

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return rows of noise, shape (texts, 384)."""
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal(384) for seed in seeds]).astype(np.float32)


class ShuffledGraph(Links):
    """A graph whose edges lead to other observations than they should."""

    def build(self, corpus: Corpus):
        """Build the graph over observations that have changed places."""
        order = np.random.default_rng(0).permutation(len(corpus)).tolist()
        return super().build(Corpus(tuple(corpus.observations[row] for row in order)))


class DropFirst:
    """A stage that loses the best candidate."""

    def apply(self, candidates: Candidates, question: Question, corpus: Corpus, k: int) -> Candidates:
        """Return all but the first."""
        return candidates.take(range(1, len(candidates)))


class Sabotage(NamedTuple):
    """What is broken, in which system, by which overrides."""

    name: str
    system: str
    overrides: tuple[str, ...] = ()


_HERE = "recallmeter.experiments.studies.sabotage"
_CAPPED = ("+systems.dual.stages.diversity._target_=recallmeter.SessionDiversity", "+systems.dual.stages.diversity.per_session=1")
SABOTAGES = (
    Sabotage("nothing: run again", "triple"),
    Sabotage("stemmer off", "bm25", ("systems.bm25.arms.bm25.analyzer.stem=false",)),
    Sabotage("synonyms off", "bm25", ("systems.bm25.arms.bm25.synonyms=null",)),
    Sabotage("k1 = 0", "bm25", ("systems.bm25.arms.bm25.k1=0",)),
    Sabotage("vectors replaced by noise", "dual", (f"embedder.encoder._target_={_HERE}.Noise",)),
    Sabotage("session cap 1", "dual", _CAPPED),
    Sabotage("top 1 dropped", "dual", (f"+systems.dual.stages.loss._target_={_HERE}.DropFirst",)),
    Sabotage("graph edges shuffled", "triple", (f"systems.triple.arms.graph._target_={_HERE}.ShuffledGraph",)),
)


def matrix(overrides: Sequence[str], folder: Path) -> list[list[str]]:
    """Run the sound systems, then each sabotage, in `folder`; return the table, its head first."""
    common = ["protocol.repeats=1", "protocol.warm_up=0", *overrides]
    systems = ",".join(dict.fromkeys(sabotage.system for sabotage in SABOTAGES))
    baseline = baseline_of(run_config(composed([f"system=[{systems}]", *common]), folder / "sound"))
    table = [["sabotage", "system", "measure", "n", "before", "after", "Δ pp", "MDE pp", "verdict", "n sufficed"]]
    for number, sabotage in enumerate(SABOTAGES):
        run = run_config(composed([f"system=[{sabotage.system}]", *common, *sabotage.overrides]), folder / str(number))
        report = gate(run, baseline, changed(rules_named("default"), systems=[sabotage.system]))
        for finding, row in zip(report.findings, cells(report)[1:], strict=False):
            decision = finding.decision
            detectable = decision.detectable if decision else None
            drop = finding.before - finding.after
            sufficed = "–" if detectable is None else "yes" if drop > detectable else "no"
            table.append(
                [sabotage.name, finding.system, finding.rule.name, *row[2:5], shift(-drop), row[9], str(finding.verdict), sufficed]
            )
    return table


def main(argv: Sequence[str] | None = None) -> int:
    """Print the matrix."""
    with TemporaryDirectory() as folder:
        print(markdown(matrix(list(sys.argv[1:] if argv is None else argv), Path(folder)), left=(0, 1, 2)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
