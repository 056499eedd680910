"""The pytest plug-in: a fixture that holds a memory system against a baseline, in the words of `recallmeter gate`.

    def test_memory(recall_gate):
        recall_gate("dual", dataset="webapp", baseline="tests/baseline.json", max_drop=2.0)

It is loaded by every pytest session of an environment that has recallmeter, so it imports nothing before it is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from ..datasets.model import Dataset
    from ..evaluation.judging.gate import GateReport
    from ..evaluation.record import Run


@pytest.fixture
def recall_gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., GateReport]:
    """Return ``recall_gate(system, *, baseline, …)``: evaluate, compare, and fail the test as the gate would end.

    Args of what is returned:
        system: the name of a system in the configuration, several of them, or a retriever of one's own.
        baseline: the file that `recallmeter baseline` wrote, seen from pytest's root directory.
        dataset: the name of a data set in the configuration, a folder or file seen from pytest's root directory, or an object.
        name: what the baseline calls a retriever of one's own; not needed where it holds just one system.
        rules: the name of packaged rules, or a YAML file.
        max_drop, alpha, on_inconclusive, on_shown_loss: as on the command line; None leaves what the rules say.
        overrides: further Hydra overrides, such as ``["protocol.repeats=1"]``.
        allow_different_queries: judge the queries that baseline and run both have.

    It returns the report. The run is kept in pytest's temporary folder and named in the failure message, so that a change
    that is meant can be accepted with `recallmeter baseline`.
    """

    def gate(
        system: Any,
        *,
        baseline: str | Path,
        dataset: str | Path | Dataset = "webapp",
        name: str | None = None,
        rules: str = "default",
        max_drop: float | None = None,
        alpha: float | None = None,
        on_inconclusive: Any = None,
        on_shown_loss: Any = None,
        overrides: Sequence[str] = (),
        allow_different_queries: bool = False,
    ) -> GateReport:
        from ..datasets.errors import InputError
        from ..datasets.model import Dataset
        from ..evaluation.inference.verdict import Verdict
        from ..evaluation.judging.gate import gate
        from ..reports.gate import text
        from .api.measuring import configured, load_dataset
        from .rules import changed, load_baseline, rules_named

        path = request.config.rootpath / baseline
        kept = ""
        try:
            held = load_baseline(path) if path.exists() else None
            own = not isinstance(system, str | list | tuple)
            only = list(held.systems) if held is not None and len(held.systems) == 1 else []
            names = [name or (only or [type(system).__name__])[0]] if own else [system] if isinstance(system, str) else list(system)
            searched = dataset
            if not isinstance(dataset, Dataset) and not configured(dataset):
                searched = load_dataset(request.config.rootpath / dataset)
            run = _run(names, system if own else None, searched, overrides, tmp_path_factory.mktemp("recallmeter") / "run")
            kept = f"\n\nThe run is in {run.path}; keep it with `recallmeter baseline {run.path} -o {path}"
            if held is None:
                pytest.fail(f"there is no baseline {path}{kept}`", pytrace=False)
            handled = {"on_inconclusive": on_inconclusive, "on_shown_loss": on_shown_loss}
            asked = changed(rules_named(rules), max_drop=max_drop, alpha=alpha, systems=names, **handled)
            report = gate(run, held, asked, where=str(baseline), allow_different=allow_different_queries)
        except InputError as error:
            pytest.fail(f"recall_gate: {error}", pytrace=False)
        if report.exit_code:
            pytest.fail(f"{text(report)}{kept} --reason TEXT`", pytrace=False)
        if report.verdict is Verdict.INCONCLUSIVE:
            warnings.warn(pytest.PytestWarning(text(report)), stacklevel=2)
        return report

    return gate


def _run(names: Sequence[str], retriever: Any, dataset: str | Path | Dataset, overrides: Sequence[str], folder: Path) -> Run:
    from ..datasets.model import Dataset
    from .composition import composed
    from .doors.run import run_config

    given = dataset if isinstance(dataset, Dataset) else None
    systems = "[]" if retriever is not None else f"[{','.join(names)}]"
    config = composed(["dataset=webapp" if given else f"dataset={dataset}", f"system={systems}", *overrides])
    return run_config(config, folder, None if retriever is None else {names[0]: retriever}, given)
