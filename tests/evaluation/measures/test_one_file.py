"""A measure is one file: put into its room, it is asked for, shown in the contract and held to ties, and nothing else is touched."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FLOORS = ("datasets", "retrieval", "evaluation", "reports", "experiments", "conf", "recallmeter")
MEASURE = '''
from ..gains import Seen
from ..measure import ACROSS_K, Contract, SumMeasure


class Found(SumMeasure):
    """How many relevant observations are in the first k."""

    name = "found"
    aliases = ("num_rel_found",)
    contract = Contract("relevant observations in the first k, counted", "1", ACROSS_K)
    most = float("inf")

    def norm(self, seen: Seen) -> float:
        return 1.0
'''


def test_a_new_measure_touches_one_file(tmp_path: Path) -> None:
    for floor in FLOORS:
        shutil.copytree(ROOT / floor, tmp_path / floor, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "evaluation" / "measures" / "relevance" / "found.py").write_text(MEASURE)
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 2.0 t\nq Q0 b 2 1.0 t\nq Q0 c 3 1.0 t\n")
    command = ["-m", "recallmeter", "eval", "--qrels", "qrels", "--run", "run", "-m", "num_rel_found@2", "--ties"]
    told = subprocess.run([sys.executable, *command], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert told.split()[4:8] == ["found@2", "1", "2.0000", "2.0000"]
    assert told.split()[-3:] == ["1.0000", "1.5000", "2.0000"]
    contract = "from recallmeter.evaluation.measures.contract import CONTRACT; print([entry.measure for entry in CONTRACT])"
    assert "'found@k'" in subprocess.run([sys.executable, "-c", contract], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
