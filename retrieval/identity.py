"""What shapes a value: the one answer by which caches, candidates, points of sweeps, runs and baselines are told apart."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from .source import PACKAGE, code_version, content_sha256, file_source, module_source, package_version

PACKAGES = (
    "numpy",
    "scipy",
    "torch",
    "transformers",
    "sentence-transformers",
    "tokenizers",
    "rank-bm25",
    "nltk",
    "hydra-core",
    "omegaconf",
)
"""The packages whose versions can move a number."""

SERVERS = ("http", "https", "postgres", "postgresql", "redis", "mongodb", "grpc", "ws", "wss")
WHOLE = 500
"""Files of a folder up to which each counts by its content; of a larger folder by size and time."""

_SESSION = uuid4().hex


@dataclass(frozen=True)
class Identity:
    """What shapes the value that settings describe.

    Attributes:
        parts: what it is made of → its version or SHA-256 (hex): the settings themselves, files, folders, models, code, packages.
        unknown: what can't be known, as ``key: why``; a value with such a part is never taken for another with the same key.
    """

    parts: Mapping[str, str]
    unknown: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The SHA-256 (hex) of all parts."""
        return hashlib.sha256(canonical(self.parts).encode()).hexdigest()

    @property
    def volatile(self) -> str:
        """The key; with an unknown part one that holds for this process alone."""
        return f"{self.key}-{_SESSION}" if self.unknown else self.key


def identity(settings: Mapping[str, Any], data: str = "", *, place: str = "") -> Identity:
    """Return what shapes the value of resolved settings, or of a part of them.

    Args:
        data: fingerprint of the data set that it is computed on, which stands for all that ``dataset`` in the settings names.
        place: the key of that part, which only `Identity.unknown` quotes.
    """
    found = _Found({"settings": hashlib.sha256(canonical(settings).encode()).hexdigest(), "recallmeter": code_version(), **_packages()})
    if data:
        found.parts["data"] = data
    found.walk({name: value for name, value in settings.items() if name != "dataset"} if data else settings, place)
    return Identity(dict(sorted(found.parts.items())), tuple(dict.fromkeys(found.unknown)))


def identity_of(encoder: Any) -> Identity:
    """Return what shapes the vectors of an encoder: its model, its code, the packages that compute, and of a foreign one its state."""
    kind, parts, unknown = type(encoder), {"model": str(encoder.model)}, list[str]()
    if kind.__module__.partition(".")[0] == PACKAGE:
        parts["recallmeter"] = _own_code(kind.__module__)
    else:
        source = module_source(kind.__module__)
        parts |= source.parts | {"class": kind.__qualname__, "state": canonical(_simple(vars(encoder)))}
        if not any(name.startswith(("module ", "package ")) for name in source.parts):
            unknown.append(f"{kind.__qualname__}: its code is in no file")
        unknown += [f"{kind.__qualname__}: it reaches servers through {client}" for client in sorted(source.clients)]
    parts |= {f"package {name}": package_version(name) for name in getattr(kind, "packages", ())}
    if getattr(kind, "remote", False) and getattr(encoder, "version", None) is None:
        unknown.append(f"{encoder.model}: a provider's model may change")
    return Identity(parts, tuple(unknown))


def differing(one: Mapping[str, str], other: Mapping[str, str], most: int = 5) -> str:
    """Return the names of the parts in which two identities differ, ``settings`` for the configuration itself."""
    names = [name for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def canonical(value: Any) -> str:
    """Return a value as JSON with sorted keys, whatever it holds."""
    return json.dumps(value, sort_keys=True, default=str)


class _Found:
    def __init__(self, parts: dict[str, str]) -> None:
        self.parts, self.unknown = parts, list[str]()

    def walk(self, value: Any, place: str, folder: Path | None = None) -> None:
        if isinstance(value, Mapping):
            inside = Path(value["cwd"]) if isinstance(value.get("cwd"), str) else folder
            if isinstance(value.get("_target_"), str):
                self._target(value, place)
            for name, inner in value.items():
                if name == "command":
                    self._command(inner, f"{place}.{name}".lstrip("."), inside or Path(), value)
                elif name != "_target_":
                    self.walk(inner, f"{place}.{name}".lstrip("."), inside)
        elif isinstance(value, list | tuple):
            for number, inner in enumerate(value):
                self.walk(inner, f"{place}.{number}", folder)
        elif isinstance(value, str):
            self._text(value, folder or Path())

    def _target(self, spec: Mapping[str, Any], place: str) -> None:
        target, why = spec["_target_"], list[str]()
        if target.partition(".")[0] == PACKAGE:
            located = _located(target)
            self.parts |= {f"package {name}": package_version(name) for name in getattr(located, "packages", ())}
            if getattr(located, "shaped_by_model", False):
                # of the arguments those that are parts themselves, such as a transport, shape no vector
                arguments = {name: v for name, v in spec.items() if name[:1] != "_" and name != "version" and not isinstance(v, Mapping)}
                self.parts[f"model of {place}"] = located(**arguments).model
            if getattr(located, "remote", False):
                why.append("what is behind it may change")
        else:
            source = module_source(target)
            self.parts |= source.parts
            why += [f"it reaches servers through {client}" for client in sorted(source.clients)]
            if not source.parts:
                why.append(f"the code of {target} is in no file")
        why += [f"{urlsplit(v).scheme}://{urlsplit(v).hostname} may change" for v in _texts(spec) if _is_server(v)]
        if spec.get("version") is None:
            self.unknown += [f"{place or target}: {reason}" for reason in dict.fromkeys(why)]

    def _text(self, text: str, folder: Path) -> None:
        if not text or len(text) > 4096 or not text.isprintable():
            return
        try:
            path = folder / Path(text).expanduser()
            if path.is_file():
                self.parts[f"file {text}"] = content_sha256(path)
            elif path.is_dir() and (os.sep in text or path.suffix):
                self.parts[f"folder {text}"] = _folder(path)
        except (OSError, RuntimeError, ValueError):  # a name that no file can have
            return

    def _command(self, command: Any, place: str, folder: Path, spec: Mapping[str, Any]) -> None:
        try:
            words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
        except (TypeError, ValueError):  # whoever runs it says so
            return
        program = shutil.which(words[0] if os.sep not in words[0] else str(folder / words[0])) if words else None
        if program is None:
            return
        self.parts[f"program {words[0]}"] = content_sha256(Path(program))
        own = os.sep in words[0] and not Path(words[0]).is_absolute()
        if own:
            self.parts |= file_source(Path(program), f"program {words[0]}", folder).parts
        for before, word in pairwise(words):
            path = folder / word
            if before == "-m" and (source := _program_module(word, folder)):
                self.parts |= source
                own = True
            elif path.is_file():
                source = file_source(path, f"file {word}", folder)
                self.parts |= source.parts
                own = True
                if source.clients and spec.get("version") is None:
                    self.unknown += [f"{place}: it reaches servers through {client}" for client in sorted(source.clients)]
            elif path.is_dir():
                self.parts[f"folder {word}"] = _folder(path)
                own = True
        if not own and len(words) > 1 and spec.get("version") is None:
            self.unknown.append(f"{place}: what `{words[0]}` starts can't be told from the command")


def _program_module(name: str, folder: Path) -> dict[str, str]:
    for candidate in (folder / f"{name.replace('.', os.sep)}.py", folder / name.replace(".", os.sep) / "__main__.py"):
        if candidate.is_file():
            return file_source(candidate, f"module {name}", folder).parts
    return {}


def _folder(path: Path) -> str:
    """Return the SHA-256 (hex) of a folder's files, hidden ones left out."""
    files = sorted(p for p in path.rglob("*") if p.is_file() and not any(part.startswith(".") for part in p.relative_to(path).parts))
    digest = hashlib.sha256()
    for file in files:
        stat = file.stat()
        content = content_sha256(file) if len(files) <= WHOLE else f"{stat.st_size} {stat.st_mtime_ns}"
        digest.update(f"{file.relative_to(path).as_posix()}\0{content}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _located(target: str) -> Any:
    """Return what a ``_target_`` of recallmeter's own names; None if there is none, which building it tells."""
    names = target.split(".")
    try:
        found: Any = import_module(names[0])
        for depth, name in enumerate(names[1:], start=2):
            found = getattr(found, name, None) or import_module(".".join(names[:depth]))
        return found
    except ImportError:
        return None


def _texts(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a specification, but not those of the objects inside it, which have a place of their own."""
    for value in spec.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping) and "_target_" not in value:
            yield from _texts(value)


def _is_server(text: str) -> bool:
    scheme, mark, _ = text.partition("://")
    return bool(mark) and scheme in SERVERS


@cache
def _packages() -> dict[str, str]:
    return {f"package {name}": found for name in PACKAGES if (found := package_version(name))}


@cache
def _own_code(module: str) -> str:
    """Return the SHA-256 (hex) of a module of recallmeter and of what makes its vectors into stored ones."""
    modules = (module, f"{PACKAGE}.retrieval.embedders.embedding", f"{PACKAGE}.retrieval.embedders.http")
    files = [Path(str(import_module(name).__file__)) for name in modules]
    return hashlib.sha256("".join(map(content_sha256, files)).encode()).hexdigest()


def _simple(value: Any, depth: int = 3) -> Any:
    """Return what of an object's state can be compared between processes."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Mapping) and depth:
        return {str(key): found for key, inner in value.items() if (found := _simple(inner, depth - 1)) is not None}
    if isinstance(value, Sequence) and depth:
        return [_simple(inner, depth - 1) for inner in value]
    return None
