"""A run as a notebook holds it: its tables, its pages, and the directory behind it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...datasets.errors import InputError
from ...evaluation.record import Run as Record
from ...evaluation.record import load_run

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...datasets.model import Observation, Query
    from ...retrieval.ranking import Hit

SPREAD = ("mean", "low", "high", "n")


class Run:
    """One evaluation, recorded: what `evaluate` returns and `read_run` reads. A notebook shows it as a table.

    Attributes:
        record: the run directory, read; what the functions of this package work on.
    """

    def __init__(self, record: Record) -> None:
        self.record: Record = record

    @property
    def path(self) -> Path:
        """The run directory."""
        return self.record.path

    @property
    def name(self) -> str:
        """What the run is called."""
        return self.record.manifest["name"]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in the order of the run."""
        return self.record.systems

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures in the order of the contract."""
        return self.record.measures

    @property
    def queries(self) -> Mapping[str, Query]:
        """Every query, by id."""
        return self.record.queries

    @property
    def observations(self) -> Mapping[str, Observation]:
        """The observations that are relevant to a query or were a candidate of any arm, by id."""
        return self.record.observations

    @property
    def rankings(self) -> Mapping[str, Mapping[str, tuple[Hit, ...]]]:
        """System → query → hits, best first; a query with no hit is missing."""
        return self.record.rankings

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What the run was made of: data set, configuration, versions, models, machine, times."""
        return self.record.manifest

    @property
    def failures(self) -> Sequence[Mapping[str, Any]]:
        """The systems that failed on any query: ``system``, ``queries`` (how many), ``query`` (the first), ``error``."""
        return self.record.manifest["failures"]

    @property
    def notices(self) -> Sequence[Mapping[str, str]]:
        """What to know before the values are read: ``text``, and the ``system`` that it is about, "" for the data set or the run."""
        return self.record.manifest.get("notices", ())

    def summary(self) -> DataFrame:
        """Return a row a system and measure: ``mean`` over ``n`` answerable queries, its 95 % interval ``low`` to ``high``, ``ceiling``."""
        return self._frame(
            {"system": name, "measure": measure, **_spread(cell), "ceiling": self.record.summary["ceilings"][measure]}
            for name in self.systems
            for measure, cell in self._of(name)["measures"].items()
        )

    def by_category(self) -> DataFrame:
        """Return a row a system, category and measure: ``mean``, ``low``, ``high``, ``n``."""
        return self._frame(
            {"system": name, "category": category, "measure": measure, **_spread(cell)}
            for name in self.systems
            for category, cells in self._of(name)["categories"].items()
            for measure, cell in cells.items()
        )

    def costs(self) -> DataFrame:
        """Return a row a system: ``tokens`` a query, and of its milliseconds a query ``mean_ms``, ``p50_ms``, ``p95_ms``, ``p99_ms``."""
        return self._frame(
            {
                "system": name,
                "tokens": self._of(name)["tokens"]["mean"],
                **{
                    f"{statistic}_ms": self._of(name)["latency"]["spans"].get("total", {}).get(statistic)
                    for statistic in ("mean", "p50", "p95", "p99")
                },
            }
            for name in self.systems
        )

    def per_query(self) -> DataFrame:
        """Return a row a system and query: category, status, how much was returned, tokens, and a column a measure (none: unanswerable)."""
        return self._frame(self.record.per_query)

    def save(self, path: str | Path) -> Run:
        """Copy the run directory to `path`, which must be free, and return the run that lies there."""
        from ...datasets.folder import new_folder

        with new_folder(Path(path)) as folder:
            shutil.copytree(self.path, folder, dirs_exist_ok=True)
        return read_run(path)

    def report(self, path: str | Path) -> Path:
        """Write the report, as Markdown, HTML, LaTeX or JSON by the ending of `path`, and its figures beside it; return where it is.

        Raises:
            InputError: it can't be written, or the run lacks what a report is about.
        """
        return write_report(self, Path(path))

    def explorer(self, path: str | Path) -> Path:
        """Write the explorer, one page that opens in any browser; return where it is."""
        return write_explorer([self], Path(path))

    def __repr__(self) -> str:
        from ...reports.table import aligned, head_to_head, told_notices

        return "\n".join([self._told, aligned(head_to_head(self.record)), *told_notices(self.record.manifest)])

    def _repr_html_(self) -> str:
        from ...reports.table import head_to_head, told_notices

        notices = "".join(f"<p>{escape(line)}</p>" for line in told_notices(self.record.manifest))
        return f"<p>{escape(self._told)}</p>{html_table(head_to_head(self.record))}{notices}"

    @property
    def _told(self) -> str:
        dataset = self.record.manifest["dataset"]
        return f"Run {self.name} on {dataset['name']}: {dataset['queries']} queries, {dataset['answerable']} of them answerable"

    def _of(self, system: str) -> Mapping[str, Any]:
        return self.record.summary["systems"][system]

    @staticmethod
    def _frame(rows: Any) -> DataFrame:
        from pandas import DataFrame

        return DataFrame(list(rows))


def read_run(path: str | Path) -> Run:
    """Read the directory that `recallmeter run` or `Run.save` wrote.

    Raises:
        InputError: it is none, or was changed since.
    """
    return Run(load_run(path))


def write_report(run: Run, path: Path, form: str | None = None) -> Path:
    """Write the report of one run; figures go into ``figures/`` beside it, or into the present folder if `path` is a pipe.

    Args:
        form: ``markdown``, ``html``, ``latex`` or ``json``; None: what the ending of `path` says, else Markdown.
    """
    from ...datasets.file import write_file
    from ...reports.formats.writing import report_text

    write_file(path, report_text(run.record, path, form).encode("utf-8", errors="replace"), "the report")
    return path


def write_explorer(sources: Sequence[Run | str | Path], path: Path) -> Path:
    """Write one explorer of several runs and folders of sweeps."""
    from ...datasets.file import write_file
    from ...evaluation.judging.rules import rules_from
    from ...evaluation.sweeps.holdout import shown_points
    from ...evaluation.sweeps.points import RECORD
    from ...reports.explorer.assembly import explorer
    from ..rules import rules_named

    sweeps = [Path(source) for source in sources if not isinstance(source, Run) and any(Path(source).glob(f"*/{RECORD}"))]
    runs = [as_run(source).record for source in sources if isinstance(source, Run) or Path(source) not in sweeps]
    text = explorer(runs, {folder: shown_points([folder]) for folder in sweeps}, rules_from(rules_named("default")))
    write_file(path, text.encode("utf-8", errors="replace"), "the report")
    return path


def as_run(source: Run | str | Path) -> Run:
    """Return a run, read if it is named by its directory."""
    if isinstance(source, Run):
        return source
    if not isinstance(source, str | Path):
        raise InputError(f"{type(source).__name__} is no run", remedy="give what evaluate returned, or a run directory")
    return read_run(source)


def _spread(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cell[name] for name in SPREAD}


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """Write rows as an HTML table, the first row as its head."""
    head, *body = rows
    lines = ["<table><thead><tr>", *(f"<th>{escape(cell)}</th>" for cell in head), "</tr></thead><tbody>"]
    lines += [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in body]
    return "".join([*lines, "</tbody></table>"])
