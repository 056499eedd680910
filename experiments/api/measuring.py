"""From a data set and systems to a run: the built-in ones by name, one's own as objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...datasets.errors import InputError

if TYPE_CHECKING:
    from ...datasets.model import Dataset
    from ...evaluation.notices import Notice
    from ...evaluation.record import Run as Record
    from ...retrieval.ranking import Retriever
    from .runs import Run


def load_dataset(name: str | Path, **settings: Any) -> Dataset:
    """Build or load a data set.

    Args:
        name: what `recallmeter data list` names, such as ``webapp`` or ``beir``; or a folder or file whose format can be told.
        settings: as in the YAML of that data set, such as ``sessions=60`` or ``path="scifact"``; of a folder or file, options of its
            format.

    Raises:
        InputError: there is no such data set or setting, or something is wrong with its files.
    """
    from ...datasets.formats.catalogue import detect, loader
    from ..composition import composed, plain, set_all
    from ..measurement import build_dataset

    if not configured(name) and Path(name).exists():
        return loader(detect(Path(name)))(str(name), **settings)
    config = composed([f"dataset={name}", "system=[]"])
    set_all(config, "dataset", settings)
    return build_dataset(plain(config))


def configured(name: str | Path) -> bool:
    """Return whether the configuration has a data set of this name."""
    from ..composition import CONF

    return (CONF / "dataset" / f"{name}.yaml").is_file()


def described(dataset: Dataset) -> dict[str, str]:
    """Return what stands in a run's settings for a data set that was given as an object."""
    return {"name": dataset.name, "fingerprint": dataset.fingerprint}


def system(name: str, *overrides: str, **settings: Any) -> Retriever:
    """Build one of the systems that `recallmeter systems` lists.

    Args:
        name: such as ``bm25`` or ``dual``.
        overrides: as on the command line, such as ``"embedder=onnx"``.
        settings: as in the YAML of that system; groups as mappings, such as ``fusion={"k": 20}``, which change what they name.

    Raises:
        InputError: there is no such system or setting, or it can't be built.
    """
    from ..composition import composed, plain, set_all
    from ..measurement import build_systems

    config = composed([f"system=[{name}]", *overrides])
    set_all(config, f"systems.{name}", settings)
    return build_systems(plain(config))[name]


def evaluate(
    dataset: Dataset,
    systems: Mapping[str, Retriever],
    *,
    k: int = 20,
    measures: Sequence[str] | None = None,
    seed: int = 0,
    name: str = "run",
    path: str | Path | None = None,
    progress: bool = True,
    **protocol: Any,
) -> Run:
    """Ask every system every query and score what comes back.

    Args:
        dataset: what is searched and asked.
        systems: what each is called, and the object with ``index`` and ``search``.
        k: how many observations a query asks for.
        measures: such as ``["recall@5", "ndcg@10"]``; None takes those of `recallmeter run` that `k` allows.
        seed: of intervals and everything else that is random.
        name: what reports call the run.
        path: the run directory; None keeps it in a temporary one as long as the run lives, from where `Run.save` copies it.
        progress: show a bar on a terminal.
        protocol: ``warm_up``, ``repeats``, ``tokens_at``, ``tokens_counter`` and ``strict``, as in the configuration.

    Raises:
        InputError: a setting out of range, an unknown measure, a system without the two methods, or `path` is taken. A system that
            raises while it is asked fails alone; `Run.failures` names it.
    """
    from shutil import rmtree
    from tempfile import mkdtemp
    from weakref import finalize

    from ..measurement import check_systems, defaults
    from .runs import Run

    check_systems(systems)
    settings = defaults(k)
    unknown = [key for key in protocol if key not in settings["protocol"]]
    if unknown:
        known = ", ".join(settings["protocol"])
        raise InputError(f"there is no setting {unknown[0]!r}", where="evaluate", remedy=f"there are {known}")
    settings |= {
        "name": name,
        "seed": seed,
        "protocol": settings["protocol"] | protocol,
        "dataset": described(dataset),
        "systems": {label: {"_target_": f"{type(one).__module__}.{type(one).__qualname__}"} for label, one in systems.items()},
    }
    if measures is not None:
        settings["measures"] = list(measures)
    if path is not None:
        return Run(record_run(settings, dataset, systems, Path(path), progress=progress))
    folder = Path(mkdtemp(prefix="recallmeter-"))
    record = record_run(settings, dataset, systems, folder, progress=progress)
    finalize(record, rmtree, folder, ignore_errors=True)
    return Run(record)


def record_run(
    settings: Mapping[str, Any],
    dataset: Dataset,
    systems: Mapping[str, Retriever],
    folder: Path,
    *,
    kept: Mapping[str, Any] | None = None,
    command: Sequence[str] | None = None,
    notices: Sequence[Notice] = (),
    progress: bool = True,
) -> Record:
    """Evaluate systems on a data set as resolved settings say, write the run directory and read it.

    Args:
        kept: the settings as the run directory is to hold them; None: as they are.
        command: the command line that asked for the run, if one did.
        notices: what is already known to be worth saying.
    """
    from omegaconf import OmegaConf

    from ...datasets.folder import check_free
    from ...datasets.secrets import redacted_settings
    from ...evaluation.environment import calibration_ms
    from ...evaluation.record import load_run, write_record
    from ...evaluation.summary import summarise
    from ..measurement import measure

    check_free(folder)
    measured = measure(settings, dataset, systems, notices=notices, progress=progress)
    write_record(
        folder,
        config_yaml=OmegaConf.to_yaml(OmegaConf.create(redacted_settings(kept or settings))),
        manifest={**measured.manifest, "name": settings["name"], "command": command, "calibration_ms": calibration_ms()},
        dataset=dataset,
        results=measured.results,
        scores=measured.scores,
        summary=summarise(dataset, measured.results, measured.scores, measured.protocol, seed=settings["seed"]),
    )
    return load_run(folder)
