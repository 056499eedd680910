"""The lint of the explorer's script sees its parts as one scope, and names what is wrong by part and line."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LINT = ROOT / ".ci" / "javascript"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    if not shutil.which("node") or not (LINT / "node_modules").is_dir():
        pytest.skip("eslint is not installed: `make lint` installs it where there is npm")
    return subprocess.run(["node", str(LINT / "lint.mjs"), str(folder)], capture_output=True, text=True, check=False)


def test_the_script_is_clean() -> None:
    found = lint(ROOT / "reports" / "explorer" / "page")
    assert (found.returncode, found.stderr) == (0, "")


def test_a_fault_is_named_by_part_and_line_and_parts_know_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("function one() {\n  return two();\n}\n")
    (tmp_path / "b.js").write_text("function two() {\n  return 2;\n}\n\nif (one() == three()) two();\n")
    found = lint(tmp_path)
    assert found.returncode == 1
    assert [line.split(" ")[0] for line in found.stderr.splitlines()] == [f"{tmp_path}/b.js:5:11", f"{tmp_path}/b.js:5:14"]
    assert "'three' is not defined" in found.stderr
