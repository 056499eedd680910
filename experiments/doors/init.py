"""`recallmeter init`: a folder in which one's own memory is measured, gated and tested at once."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from string import Template

from ...datasets.errors import InputError

WORKFLOW = Path(".github/workflows/recallmeter.yml")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("folder", nargs="?", default="mine", metavar="DIR", help="a folder that is not there yet (default: mine)")
    parser.add_argument("--name", metavar="NAME", help="what your memory is called, such as my_memory")
    parser.add_argument(
        "--memories", metavar="FILE", help="a table of memories: CSV, TSV, JSON, JSONL or Parquet; none: the built-in data set"
    )
    parser.add_argument("--questions", metavar="FILE", help="a table of questions with the ids of what answers them")
    parser.epilog = f"Asks for what is not given, on a terminal. A GitHub workflow goes to {WORKFLOW}, unless one is there."


def execute(arguments: argparse.Namespace) -> int:
    """Write the folder and the workflow, run the memory once, and keep the run as the baseline; return the run's exit code."""
    from ...datasets.folder import new_folder
    from ...datasets.formats.jsonl import write_jsonl
    from ...datasets.formats.table import load_table
    from .data import preview

    folder = Path(arguments.folder)
    name = arguments.name or _asked("What is your memory called?", "my_memory")
    memories = arguments.memories or _asked("A table of memories (empty: the built-in data set)?", "")
    questions = arguments.questions or (memories and _asked("A table of questions, with the ids of what answers them?", ""))
    _check(folder, name, memories, questions)
    words = {"name": name, "data": folder.name, "kind": "".join(part.capitalize() for part in name.split("_")), "folder": folder.as_posix()}
    words |= {"version": version("recallmeter"), "dataset": 'Path(__file__).parent / "data"' if memories else '"webapp"'}
    with new_folder(folder) as partial:
        if memories:
            preview(memories, {"questions": questions})
            dataset = load_table(memories, questions=questions)
            (partial / "data").mkdir()
            write_jsonl(partial / "data", dataset.name, dataset.observations, dataset.queries)
        for path, template in _files(words, linked=bool(memories)).items():
            (partial / path).parent.mkdir(exist_ok=True)
            (partial / path).write_text(Template(template).substitute(words), encoding="utf-8")
    if not WORKFLOW.exists():
        WORKFLOW.parent.mkdir(parents=True, exist_ok=True)
        WORKFLOW.write_text(Template(_WORKFLOW).substitute(words), encoding="utf-8")
    return _first_run(folder, name)


def _asked(question: str, default: str) -> str:
    """Ask on a terminal; take the default elsewhere."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return default
    return input(f"{question} [{default}] " if default else f"{question} ").strip() or default


def _check(folder: Path, name: str, memories: str, questions: str) -> None:
    from ..composition import CONF

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"{name!r} is no name of a Python module", where="--name", remedy="use small letters, digits and _")
    if (CONF / "system" / f"{name}.yaml").exists():
        raise InputError(f"there is a built-in system {name!r}", where="--name", remedy="choose another name")
    if (CONF / "dataset" / f"{folder.name}.yaml").exists():
        raise InputError(f"there is a built-in data set {folder.name!r}", where=str(folder), remedy="choose another folder")
    if not re.fullmatch(r"[\w./-]+", folder.as_posix()):
        raise InputError("its name has characters that a shell reads", where=str(folder), remedy="use letters, digits and . _ - /")
    if memories and not questions:
        raise InputError("memories without questions can't be measured", where="--questions", remedy="name a table of questions")
    if questions and not memories:
        raise InputError("questions without memories", where="--memories", remedy="name the table of memories")


def _first_run(folder: Path, name: str) -> int:
    from ...evaluation.judging.baseline import baseline_of, write_baseline
    from ...evaluation.record import load_run
    from ..composition import launch
    from .run import evaluate_config

    run = folder / "runs" / "first"
    chosen = [f"dataset={folder.name}", f"system=[{name}]", f"hydra.run.dir={run}"]
    code = launch(evaluate_config, ["--config-dir", str(folder), *chosen], command="run")
    if not code:
        write_baseline(baseline_of(load_run(run)), folder / "baseline.json")
        print(f"{folder / 'README.md'} says how to go on")
    return code


def _files(words: Mapping[str, str], *, linked: bool) -> dict[str, str]:
    """Return the path of each file, and its template."""
    folder = Path(words["folder"]).name
    return {
        f"{words['name']}.py": _MEMORY,
        f"system/{words['name']}.yaml": "# @package systems.$name\n_target_: $name.$kind\n",
        f"dataset/{folder}.yaml": _IMPORTED if linked else _BUILT_IN,
        f"test_{words['name']}.py": _TEST,
        "README.md": _README,
        ".gitignore": "runs/\n",
    }


_MEMORY = '''"""The memory that is measured: put your own in place of what stands here."""

import re


class $kind:
    """Finds the observations that share most words with the question."""

    def index(self, observations):
        """Take in everything that was remembered; each has an id, a text (title and narrative), a timestamp and a scope."""
        self.memory = list(observations)

    def search(self, query, k, *, scope="", asked_at=None):
        """Return at most k pairs of id and score, best first: only of this scope, and nothing later than asked_at."""
        words = set(re.findall(r"\\w+", query.lower()))
        found = []
        for o in self.memory:
            shared = len(words & set(re.findall(r"\\w+", f"{o.title} {o.narrative}".lower())))
            if shared and o.scope == scope and (asked_at is None or o.timestamp <= asked_at):
                found.append((o.id, float(shared)))
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]
'''

_BUILT_IN = """# The built-in data set; `recallmeter data import table memories.csv --questions questions.csv -o DIR` makes one of yours.
_target_: recallmeter.generate_webapp
"""

_IMPORTED = """# The tables that were imported into data/.
_target_: recallmeter.load_jsonl
path: $folder/data
"""

_TEST = """from pathlib import Path

from $name import $kind


def test_recall_holds(recall_gate):
    recall_gate($kind(), dataset=$dataset, baseline=Path(__file__).parent / "baseline.json")
"""

_README = """# $name, measured

`$name.py` is the memory; put your own in its place. From the folder above:

```bash
recallmeter run --config-dir $folder dataset=$data 'system=[bm25,$name]' hydra.run.dir=$folder/runs/now
recallmeter report $folder/runs/now -o $folder/runs/report.md --html $folder/runs/explorer.html
recallmeter gate $folder/runs/now --baseline $folder/baseline.json
pytest $folder
```

`baseline.json` is what later runs are held against. A change that is meant is accepted with
`recallmeter baseline $folder/runs/now --system $name -o $folder/baseline.json --reason "why"`.
"""

_WORKFLOW = """name: recall
on: [pull_request]
jobs:
  recall:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.11"}
      - run: pip install recallmeter==$version
      - run: recallmeter run --config-dir $folder dataset=$data 'system=[$name]' hydra.run.dir=runs/change
      - run: recallmeter gate runs/change --baseline $folder/baseline.json --github
"""
