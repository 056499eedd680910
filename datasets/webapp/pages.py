"""The pages of the bible, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any


@cache
def page(name: str) -> Any:
    """Return one file of ``bible/`` as YAML values; by libyaml where it is built in, because the pure reader takes half a second."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(Path(__file__).with_name("bible").joinpath(f"{name}.yaml").read_text(encoding="utf-8"), loader)
