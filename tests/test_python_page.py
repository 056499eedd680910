"""The page and the notebook about the library run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTEBOOK = DOCS / "notebooks" / "quickstart.ipynb"


def test_every_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 8
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    told = capsys.readouterr().out
    assert "did you mean 'webapp'?" in told
    assert (tmp_path / "explorer.html").stat().st_size > 10_000


def test_the_notebook_goes_from_two_frames_to_a_comparison_and_a_figure(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert sum(bool(line.strip()) for cell in code for line in cell.source.splitlines()) < 30
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in code for output in cell.outputs]
    assert not [output for output in shown if output.output_type == "stream"], "nothing is told beside the results"
    tables = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert any("<th>R@10</th>" in table for table in tables)
    assert any("<th>difference</th>" in table and "<th>low</th>" in table for table in tables)
    assert "image/png" in code[-1].outputs[-1].data
