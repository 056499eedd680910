"""The house stands: imports go down only, in no circle, and no room is too full."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = ("datasets", "retrieval", "evaluation", "reports", "experiments", "recallmeter")
ORDER = {
    "datasets": (["datasets"], ["datasets/formats", "datasets/webapp", "datasets/zh_memory", "datasets/checks"]),
    "retrieval": (
        ["retrieval/text"],
        ["retrieval"],
        ["retrieval/embedders"],
        ["retrieval/indexes"],
        ["retrieval/arms", "retrieval/stages", "retrieval/ingest", "retrieval/external"],
    ),
    "evaluation": (
        ["evaluation/measures"],
        ["evaluation/inference"],
        ["evaluation"],
        ["evaluation/judging", "evaluation/sweeps", "evaluation/audits"],
    ),
    "reports": (["reports"], ["reports/sections", "reports/explorer"], ["reports/formats"]),
    "experiments": (["experiments"], ["experiments/sweeping"], ["experiments/api"], ["experiments/doors"], ["experiments/studies"]),
}
"""The rooms of each floor from the lowest up; rooms of one list don't know each other, and a floor's own modules are one too."""
MOST = 15
"""How many modules a room may have."""
MODULES = sorted(path for floor in FLOORS for path in (ROOT / floor).rglob("*.py"))


def imported_floors(path: Path) -> set[str]:
    """Return the floors that a module imports from, resolved from its relative imports."""
    package = ("recallmeter", *path.relative_to(ROOT).parent.parts)
    floors = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            target = (*package[: len(package) - node.level + 1], *(node.module or "").split("."))
            names = [target] if node.module else [(*target, alias.name) for alias in node.names]
            floors |= {[part for part in name if part][1] for name in names if len([part for part in name if part]) > 1}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recallmeter"):
            floors.add("absolute")
        elif isinstance(node, ast.Import):
            floors |= {"absolute" for alias in node.names if alias.name.startswith("recallmeter")}
    return floors


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down_only(path: Path) -> None:
    floor = FLOORS.index(path.relative_to(ROOT).parts[0])
    assert imported_floors(path) <= set(FLOORS[: floor + 1])


def test_neither_modules_nor_rooms_form_a_circle() -> None:
    modules = {module_name(path): module_imports(path) for path in MODULES}
    rooms: dict[str, set[str]] = defaultdict(set)
    for path in MODULES:
        rooms[room(path)] |= {room(KNOWN[target]) for target in module_imports(path)} - {room(path)}
    assert circle(modules) == circle(rooms) == ()


def circle(arrows: Mapping[str, set[str]]) -> tuple[str, ...]:
    """Return a way along the arrows that ends where it began; () when there is none."""
    done: set[str] = set()

    def walk(node: str, trail: tuple[str, ...]) -> tuple[str, ...]:
        if node in trail:
            return (*trail[trail.index(node) :], node)
        found = next(filter(None, (walk(target, (*trail, node)) for target in sorted(arrows.get(node, ())) if target not in done)), ())
        done.add(node)
        return found

    return next(filter(None, (walk(node, ()) for node in sorted(arrows) if node not in done)), ())


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c", "d"}, "c": set(), "d": {"b"}}) == ("b", "d", "b")
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == ()


@pytest.mark.parametrize("floor", ORDER)
def test_no_arrow_goes_up_inside_a_floor(floor: str) -> None:
    rank = {name: number for number, rooms in enumerate(ORDER[floor]) for name in rooms}
    arrows = {(room(path), room(KNOWN[target])) for path in MODULES for target in module_imports(path)}
    known = [(above, below) for above, below in arrows if above != below and {above, below} <= rank.keys()]
    assert known or len(rank) < 2
    assert {(above, below) for above, below in known if rank[below] >= rank[above]} == set()


def module_name(path: Path) -> str:
    return ".".join(("recallmeter", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def room(path: Path) -> str:
    """Return the folder below its floor that a module lies in; a folder inside a room belongs to it."""
    return "/".join(path.parent.relative_to(ROOT).parts[:2])


KNOWN = {module_name(path): path for path in MODULES}


@cache
def module_imports(path: Path) -> set[str]:
    """Return the project's modules that importing this one imports; imports inside functions and for types only don't count."""
    package = ("recallmeter", *path.relative_to(ROOT).parent.parts)
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join((*package[: len(package) - node.level + 1], *([node.module] if node.module else [])))
            found |= {name for name in (base, *(f"{base}.{alias.name}" for alias in node.names)) if name in KNOWN}
    return found


def test_the_lowest_floor_has_no_init_file() -> None:
    # with one, a run from the checkout would shadow the `datasets` package that sentence_transformers imports
    assert not (ROOT / "datasets" / "__init__.py").exists()


def test_no_room_holds_more_than_a_glance_takes_in() -> None:
    rooms = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES if path.name != "__init__.py")
    assert {name: number for name, number in rooms.items() if number > MOST} == {}


def test_the_tests_mirror_the_rooms() -> None:
    folders = {path.parent.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert folders - {"."} <= {path.parent.relative_to(ROOT).as_posix() for path in MODULES}


def test_every_group_of_the_configuration_is_named_as_what_it_chooses() -> None:
    rooms = {path.parent.name for path in MODULES} | {path.stem for path in MODULES}
    groups = {path.name for path in (ROOT / "conf").iterdir() if path.is_dir()}
    assert {group for group in groups if rooms.isdisjoint((group, f"{group}s", f"{group}es"))} == set()
