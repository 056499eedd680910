"""The house stands: imports go down only, in no circle, and no room is too full."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = ("datasets", "retrieval", "evaluation", "reports", "experiments", "recallmeter")
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


def test_no_two_modules_import_each_other_in_a_circle() -> None:
    from recallmeter.datasets import errors  # the package is importable at all

    assert errors
    graph = {module_name(path): module_imports(path) for path in MODULES}
    done: set[str] = set()

    def walk(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, f"a circle: {' → '.join((*trail, module))}"
        if module in done:
            return
        for target in sorted(graph.get(module, ())):
            walk(target, (*trail, module))
        done.add(module)

    for module in sorted(graph):
        walk(module, ())


def module_name(path: Path) -> str:
    return ".".join(("recallmeter", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def module_imports(path: Path) -> set[str]:
    """Return the project's modules that importing this one imports; imports inside functions and for types only don't count."""
    package = ("recallmeter", *path.relative_to(ROOT).parent.parts)
    known = {module_name(module) for module in MODULES}
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join((*package[: len(package) - node.level + 1], *([node.module] if node.module else [])))
            found |= {name for name in (base, *(f"{base}.{alias.name}" for alias in node.names)) if name in known}
    return found


def test_the_lowest_floor_has_no_init_file() -> None:
    # with one, a run from the checkout would shadow the `datasets` package that sentence_transformers imports
    assert not (ROOT / "datasets" / "__init__.py").exists()


def test_no_room_holds_more_than_a_glance_takes_in() -> None:
    rooms = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES if path.name != "__init__.py")
    assert {room: number for room, number in rooms.items() if number > 17} == {}
