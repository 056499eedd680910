"""Mutated files put to the commands that read them: is anything told by a traceback, does anything hang, is any value wrong?

    python -m recallmeter.experiments.studies.fuzz [-n 5000] [--seed 0] [--only NAME] [--keep FOLDER]

A small data set, a run, a baseline and a sweep are made; then one file after another is mutated, and a command reads it, in this process.
What comes back is *refused* (exit 2 and lines that say why, with no fault of ours) or *accepted*. An accepted value is held against what
it must be: of a harmless mutation what the untouched file gives, of judgments, runs and records what a few lines here make of the mutated
text, which share no code with the rest, and of what carries a digest what was sealed. Sealed files are also mutated inside and sealed
again, as another version might have written them. Printed, as Markdown: what came of each kind; every input that went wrong is kept.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from ...evaluation.exit_code import ExitCode
from ...evaluation.seal import DIGEST, sealed
from ...reports.table import markdown
from . import mutations
from .mutations import Mutation

SECONDS = 20
"""From how long on a command counts as one that hangs."""

OUTCOMES = ("refused", "accepted, as it must be", "accepted, without a value of ours", "traceback", "hang", "wrong value")
BAD = OUTCOMES[3:]
MEASURES = ("recall@5", "precision@5", "ndcg@10", "mrr")

Value = Any
Oracle = Callable[[bytes], Value]


@dataclass(frozen=True)
class Subject:
    """A file, how it is mutated, and the command that reads it.

    Attributes:
        read: what of the command's standard output is held against the oracle.
        oracle: what a mutated file must give; None where nothing but this project can tell.
        fixed: whether an accepted file must give what the untouched one gives, whatever the mutation: it carries a digest.
        share: how many of a hundred inputs it gets.
    """

    name: str
    path: str
    command: tuple[str, ...]
    harmless: tuple[Mutation, ...]
    hostile: tuple[Mutation, ...]
    share: int
    read: Callable[[str], Value] = str
    oracle: Oracle | None = None
    fixed: bool = False
    cleared: tuple[str, ...] = ()


@dataclass
class Study:
    """What came of every input, and what went wrong."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: list[tuple[str, str, bytes, str]] = field(default_factory=list)

    def table(self) -> list[list[str]]:
        """Return the counts, the head first and the sum last."""
        rows = [["what was mutated", "inputs", *OUTCOMES]]
        rows += [[name, str(found.total()), *(str(found[outcome]) for outcome in OUTCOMES)] for name, found in self.counts.items()]
        return [*rows, ["all", *(str(sum(int(row[column]) for row in rows[1:])) for column in range(1, len(rows[0])))]]


class Hang(BaseException):
    """Raised in a command that takes too long."""


# ------------------------------------------------------------------------------------------------- values, told in few lines


def judged_and_found(qrels: bytes, run: bytes) -> dict[str, float | None]:
    """Return the means over the answerable queries, of judgments and a run as text of four and six columns."""
    grades: dict[str, dict[str, int]] = {}
    for query, _, document, grade in _columns(qrels):
        grades.setdefault(query, {})[document] = int(float(grade))
    hits: dict[str, dict[str, float]] = {}
    for query, _, document, _, score, _ in _columns(run):
        of_query = hits.setdefault(query, {})
        of_query[document] = max(float(score), of_query.get(document, -math.inf))
    values: list[tuple[float, ...]] = []
    for query, judged in grades.items():
        gold = {document: grade for document, grade in judged.items() if grade > 0}
        if gold:
            found = hits.get(query, {})
            ranked = sorted(found, key=lambda document: (-found[document], document))
            gains = [gold.get(document, 0) for document in ranked]
            best = sorted(gold.values(), reverse=True)
            first = next((place for place, gain in enumerate(gains, 1) if gain), math.inf)
            values.append((sum(map(bool, gains[:5])) / len(gold), sum(map(bool, gains[:5])) / 5, _dcg(gains) / _dcg(best), 1 / first))
    means = (sum(column) / len(values) for column in zip(*values, strict=True)) if values else [None] * len(MEASURES)
    return dict(zip(MEASURES, means, strict=True))


def _columns(content: bytes) -> Iterator[list[str]]:
    for line in content.removeprefix(b"\xef\xbb\xbf").decode().split("\n"):
        if line.strip():
            yield [part.strip(" \r") for part in line.split("\t")] if "\t" in line else line.split()


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains[:10], 1))


def records(content: bytes) -> int:
    """Return how many lines of JSON there are."""
    return sum(bool(line.strip()) for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"))


def scored(printed: str) -> Value:
    """Return the means that `recallmeter eval --json` prints."""
    (run,) = json.loads(printed)["runs"].values()
    return {name: run["measures"][name]["mean"] for name in MEASURES}


def counted(what: str) -> Callable[[str], Value]:
    """Return how many records `recallmeter data check --json` counts."""
    return lambda printed: json.loads(printed)["counts"][what]


def same(one: Value, other: Value) -> bool:
    """Return whether two values are alike, numbers up to rounding."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other


# ------------------------------------------------------------------------------------------------------------- what is read


def _resealed(content: bytes, chance: Random) -> bytes:
    record = mutations.changed({name: v for name, v in json.loads(content).items() if name != DIGEST}, chance)
    return json.dumps(sealed(record) if isinstance(record, dict) else record).encode()


def _shifted(content: bytes, chance: Random) -> bytes:
    """Change one digit, so that the file stays what it was but for a value."""
    places = [at for at, byte in enumerate(content) if 48 <= byte <= 57]
    at = chance.choice(places)
    return content[:at] + str((content[at] - 48 + chance.randint(1, 9)) % 10).encode() + content[at + 1 :]


def subjects(folder: Path) -> list[Subject]:
    """Write the untouched files into `folder` and return what is mutated."""
    write_data(folder)
    system = (
        "# @package systems.mine\n_target_: recallmeter.Pipeline\narms:\n  bm25:\n    _target_: recallmeter.BM25\n    k1: 1.2\n    b: 0.5\n"
    )
    texts = {
        "c/system/mine.yaml": system + "    synonyms: synonyms.yaml\n",
        "synonyms.yaml": "- [car, automobile]\n- [bike, bicycle, cycle]\n- [quick, fast]\n",
        "errata.yaml": "q1: {relevant: {o1: 2}, note: mended}\nq2: {disputed: true}\n",
        "rules.yaml": "alpha: 0.05\nrules:\n  recall: {measure: recall@5, max_drop: 0.02}\n",
        "qrels": "".join(f"q{q} 0 o{d} {1 + (q + d) % 3 if (q + d) % 4 else 0}\n" for q in range(6) for d in range(q, q + 5)),
        "run.trec": "".join(f"q{q} Q0 o{d} {d + 1} {20 - 1.5 * ((d * 7 + q) % 10) - d / 8} t\n" for q in range(6) for d in range(10)),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    data = ("dataset=jsonl", "dataset.path=d", "measures=[recall@5,ndcg@10,mrr]", "protocol.repeats=1", "protocol.warm_up=0")
    _must("run", "system=[bm25,grep]", *data, "hydra.run.dir=ran")
    _must("baseline", "ran", "-o", "baseline.json")
    _must("sweep", "system=bm25", *data, "systems.bm25.arms.bm25.k1=0.5,2.0", "name=w")
    point = sorted((folder / "multirun" / "w").glob("*/point.json"))[0].parent.relative_to(folder).as_posix()
    ran = ("run", "--json", *data, "hydra.run.dir=out")
    judged = (folder / "qrels").read_bytes(), (folder / "run.trec").read_bytes()
    score = ("eval", "--qrels", "qrels", "--run", "run.trec", "--json", *(word for name in MEASURES for word in ("-m", name)))
    check, board = ("data", "check", "d", "--json"), ("leaderboard", "multirun/w", "-m", "recall@5", "--json")
    gate = ("gate", "ran", "--baseline", "baseline.json", "--rules", "rules.yaml", "--json")
    m = mutations
    sealed_json, rows = (*m.JSON_HOSTILE, _shifted, _shifted), (*m.HOSTILE, _shifted, _shifted)

    def systems(printed: str) -> Value:
        return {name: found["measures"] for name, found in json.loads(printed)["systems"].items()}

    return [
        Subject("judgments", "qrels", score, m.COLUMNS_HARMLESS, m.COLUMNS_HOSTILE, 16, scored, lambda c: judged_and_found(c, judged[1])),
        Subject("runs", "run.trec", score, m.COLUMNS_HARMLESS, m.COLUMNS_HOSTILE, 16, scored, lambda c: judged_and_found(judged[0], c)),
        Subject("observations", "d/observations.jsonl", check, m.LINES_HARMLESS, m.LINES_HOSTILE, 10, counted("observations"), records),
        Subject("queries", "d/queries.jsonl", check, m.LINES_HARMLESS, m.LINES_HOSTILE, 10, counted("queries"), records),
        Subject("records that are run", "d/queries.jsonl", (*ran, "system=bm25"), (), m.LINES_HOSTILE, 3, systems, cleared=("out",)),
        Subject("description of a data set", "d/dataset.json", check, m.JSON_HARMLESS, m.JSON_HOSTILE, 4, counted("queries"), fixed=True),
        Subject(
            "errata", "errata.yaml", (*check, "--errata", "errata.yaml"), m.YAML_HARMLESS, m.HOSTILE, 4, counted("queries"), fixed=True
        ),
        Subject(
            "a system",
            "c/system/mine.yaml",
            (*ran, "system=mine", "--config-dir", "c"),
            m.YAML_HARMLESS,
            m.HOSTILE,
            5,
            systems,
            cleared=("out",),
        ),
        Subject(
            "synonyms",
            "synonyms.yaml",
            (*ran, "system=mine", "--config-dir", "c"),
            m.YAML_HARMLESS,
            m.HOSTILE,
            4,
            systems,
            cleared=("out",),
        ),
        Subject("rules of the gate", "rules.yaml", gate, m.YAML_HARMLESS, m.HOSTILE, 4),
        Subject("baselines", "baseline.json", gate, m.JSON_HARMLESS, sealed_json, 7, fixed=True),
        Subject("baselines, sealed again", "baseline.json", gate, (), (_resealed,), 4),
        Subject("manifests", "ran/run.json", ("compare", "ran", "--json"), m.JSON_HARMLESS, sealed_json, 3, fixed=True),
        Subject("manifests, sealed again", "ran/run.json", ("compare", "ran", "--json"), (), (_resealed,), 3),
        Subject("manifests, sealed again, in a report", "ran/run.json", ("report", "ran", "-o", "r.json"), (), (_resealed,), 2),
        Subject("values of a run", "ran/per_query.csv", ("compare", "ran", "--json"), (), rows, 1, fixed=True),
        Subject("points", f"{point}/point.json", board, m.JSON_HARMLESS, sealed_json, 2, fixed=True),
        Subject("points, sealed again", f"{point}/point.json", board, (), (_sealed_point(folder / point),), 1),
        Subject("values of a point", f"{point}/values.npy", board, (), (m.flipped, m.cut), 1, fixed=True),
    ]


def _sealed_point(point: Path) -> Mutation:
    values = (point / "values.npy").read_bytes()

    def resealed(content: bytes, chance: Random) -> bytes:
        record = mutations.changed({name: v for name, v in json.loads(content).items() if name != DIGEST}, chance)
        return json.dumps(sealed(record, values) if isinstance(record, dict) else record).encode()

    return resealed


def write_data(folder: Path) -> None:
    """Write a small data set into `folder`, as ``d``."""
    words = ("car", "automobile", "bike", "quick", "deploy", "shop", "cache", "login", "queue", "worker", "token", "index")
    (folder / "d").mkdir()
    observations = [
        {
            "id": f"o{n}",
            "session_id": f"s{n // 4}",
            "timestamp": f"2026-01-{n + 1:02}T10:00:00Z",
            "type": "note",
            "title": f"{word} {words[(n * 5 + 1) % 12]}",
            "facts": [f"fact {n}"],
        }
        for n, word in enumerate(words)
    ]
    queries = [
        {
            "id": f"q{n}",
            "text": f"{words[n]} {words[(n + 3) % 12]}",
            "category": "ab"[n % 2],
            "relevant": {f"o{n}": 1, f"o{(n + 3) % 12}": 2},
        }
        for n in range(8)
    ]
    for name, found in (("observations", observations), ("queries", queries)):
        (folder / "d" / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in found))
    (folder / "d" / "dataset.json").write_text(json.dumps({"name": "words", "licence": "CC0-1.0", "fingerprint": ""}) + "\n")


# ------------------------------------------------------------------------------------------------------------------- trying


def study(inputs: int, seed: int = 0, only: Sequence[str] = (), *, seconds: int = SECONDS) -> Study:
    """Mutate and read so many files, and return what came of it; every subject gets its share, and at least one."""
    result = Study()
    before = Path.cwd()
    with TemporaryDirectory() as place:
        os.chdir(place)
        try:
            for subject in subjects(Path(place)):
                if not only or subject.name in only:
                    result.counts[subject.name] = Counter()
                    _try(subject, max(1, round(inputs * subject.share / 100)), Random(f"{seed} {subject.name}"), result, seconds)
        finally:
            os.chdir(before)
    return result


def _try(subject: Subject, inputs: int, chance: Random, result: Study, seconds: int) -> None:
    path = Path(subject.path)
    untouched = path.read_bytes()
    code, printed, said = _told(subject, seconds)
    if code not in (ExitCode.PASS, ExitCode.REGRESSION, ExitCode.INCONCLUSIVE):
        raise AssertionError(f"{subject.name}: the untouched file gives {code}: {said}")
    value = subject.read(printed)
    try:
        for _ in range(inputs):
            harmless = bool(subject.harmless) and chance.random() < 0.3
            mutation = chance.choice(subject.harmless if harmless else subject.hostile)
            content = mutation(untouched, chance)
            path.write_bytes(content)
            code, printed, said = _told(subject, seconds)
            outcome = _outcome(subject, code, printed, said, content, value, harmless or content == untouched)
            result.counts[subject.name][outcome] += 1
            if outcome in BAD:
                result.wrong.append((subject.name, f"{mutation.__name__}: {outcome}", content, f"exit {code}\n{said}\n{printed[-2000:]}"))
    finally:
        path.write_bytes(untouched)


def _outcome(subject: Subject, code: int, printed: str, said: str, content: bytes, value: Value, harmless: bool) -> str:
    if code == -1:
        return "hang"
    lines = said.splitlines()
    if code not in list(ExitCode) or any(mark in said for mark in ("Traceback", "a fault of recallmeter")):
        return "traceback"
    if code == ExitCode.USAGE:
        # a check says what it found on standard output
        told = (lines and lines[-1].startswith("recallmeter: ")) or (not lines and '"severity": "error"' in printed)
        return "wrong value" if harmless else "refused" if told else "traceback"
    if code == ExitCode.FAILED:
        return "wrong value" if harmless else "refused"
    if not harmless and subject.oracle is None and not subject.fixed:
        return "accepted, without a value of ours"
    try:
        must = value if harmless or subject.oracle is None else subject.oracle(content)
        right = same(subject.read(printed), must)
    except (ValueError, KeyError, ZeroDivisionError, OverflowError):  # what a few lines can't read, the command should not have
        right = False
    return "accepted, as it must be" if right else "wrong value"


def _told(subject: Subject, seconds: int) -> tuple[int, str, str]:
    """Call the command; return its exit code, or -1 for one that hangs, and what it printed."""
    from ..cli import main

    for name in subject.cleared:
        shutil.rmtree(name, ignore_errors=True)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            with _at_most(seconds):
                code = main(list(subject.command))
        except Hang:
            code = -1
        except BaseException as error:
            code = 99
            err.write(f"Traceback: {type(error).__name__}: {error}")
    return code, out.getvalue(), err.getvalue()


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _must(*command: str) -> None:
    from ..cli import main

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        if main(list(command)):
            raise AssertionError(said.getvalue())


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(prog="python -m recallmeter.experiments.studies.fuzz", description=str(__doc__).partition("\n")[0])
    parser.add_argument("-n", "--inputs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="mutate this alone; repeat for more")
    parser.add_argument("--keep", type=Path, default=Path("fuzz"), metavar="FOLDER", help="where inputs that went wrong are kept")
    arguments = parser.parse_args(sys.argv[1:] if argv is None else argv)
    result = study(arguments.inputs, arguments.seed, arguments.only)
    print(markdown(result.table(), left=(0,)))
    for number, (name, what, content, said) in enumerate(result.wrong):
        arguments.keep.mkdir(parents=True, exist_ok=True)
        (arguments.keep / f"{number:03}.input").write_bytes(content)
        (arguments.keep / f"{number:03}.txt").write_text(f"{name}\n{what}\n{said}\n", errors="backslashreplace")
        print(f"{number:03} {name}: {what}", file=sys.stderr)
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
