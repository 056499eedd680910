"""Recallmeter: how well an AI agent's memory finds what it should.

The public names stand in ``__init__.pyi``, each with the module that it lives in: notebooks import them, YAML names them by
``_target_``, and they stay when a module moves. Each is imported when it is first asked for, so that ``import recallmeter``
costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
if not (_HERE / "conf").is_dir():
    __path__.append(str(_HERE.parent))  # a checkout: the floors lie beside the front door, not below it

_STUB = (_HERE / "__init__.pyi").read_text(encoding="utf-8").splitlines()
_HOMES = {words[-1]: words[1] for words in map(str.split, _STUB) if words[:1] == ["from"]}
"""Public name → module, from the lines ``from .module import name as name``."""

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("recallmeter")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
