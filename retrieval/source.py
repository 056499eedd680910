"""The code behind a name: the file of a module or a program, and of everything local that it takes in, by content.

What is installed counts by its version, what is the interpreter's own by nothing, and recallmeter's own code by `code_version`.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

PACKAGE = "recallmeter"
FLOORS = ("datasets", "retrieval", "evaluation")
LARGEST_SOURCE = 2**20
LONGEST_NAME = 200
SCRIPTS = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".lua", ".php", ".sh", ".bash", ".r", ""})
_INSTALLED = frozenset({"site-packages", "dist-packages"})
CLIENTS = frozenset(
    {
        "aiohttp",
        "anthropic",
        "asyncpg",
        "boto3",
        "cohere",
        "elasticsearch",
        "grpc",
        "http.client",
        "httpx",
        "openai",
        "opensearchpy",
        "pinecone",
        "psycopg",
        "psycopg2",
        "pymongo",
        "redis",
        "requests",
        "socket",
        "urllib.request",
        "urllib3",
        "weaviate",
        "websocket",
        "websockets",
        "xmlrpc.client",
        "zep_cloud",
    }
)
"""Modules by which code reaches servers."""


class Source(NamedTuple):
    """What code is made of: names of files and packages → their SHA-256 or version; and through what it reaches servers."""

    parts: dict[str, str]
    clients: frozenset[str]


def module_source(name: str) -> Source:
    """Return the source of a module by its dotted name, or of the module that an attribute so named lies in; empty if there is none."""
    found = _Collection()
    found.module(name)
    return found.source()


def file_source(path: Path, called: str, folder: Path) -> Source:
    """Return the source of a program's file.

    Args:
        called: how it is named, whatever folder it lies in.
        folder: where it runs.
    """
    found = _Collection((path.parent, folder))
    found.file(path, called)
    return found.source()


@cache
def code_version() -> str:
    """Return the SHA-256 (hex) of recallmeter's own code and data that values depend on."""
    digest, root = hashlib.sha256(), Path(__file__).resolve().parents[1]
    files = (path for floor in FLOORS for path in (root / floor).rglob("*") if path.suffix != ".pyc" and path.is_file())
    for path in sorted(files):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def package_version(package: str) -> str:
    """Return the installed version, or "" where the package is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def content_sha256(path: Path) -> str:
    """Return the SHA-256 (hex) of a file, computed once for as long as the file stays as it is."""
    stat = path.stat()
    return _content(path, stat.st_mtime_ns, stat.st_size, stat.st_ino)


@lru_cache(1024)
def _content(path: Path, modified: int, size: int, node: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Taken(NamedTuple):
    """What a source takes in: modules, as (level, name, names), and texts that may name files."""

    modules: tuple[tuple[int, str, tuple[str, ...]], ...]
    texts: frozenset[str]


class _Collection:
    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self.parts: dict[str, str] = {}
        self.clients: set[str] = set()
        self._folders = tuple(dict.fromkeys(folders))
        self._seen: set[str] = set()
        self._base: Path | None = folders[0] if folders else None

    def source(self) -> Source:
        return Source(dict(sorted(self.parts.items())), frozenset(self.clients))

    def module(self, name: str) -> bool:
        """Take in a module with the packages above it; return whether all of `name` is modules."""
        names = name.split(".")
        locations: Sequence[str] | None = None
        for depth in range(1, len(names) + 1):
            dotted = ".".join(names[:depth])
            if dotted in CLIENTS:
                self.clients.add(dotted)
            beside = self._beside(dotted) if depth == 1 else None
            if depth == 1 and beside is None and (dotted == PACKAGE or dotted in sys.stdlib_module_names):
                self.clients.update({name} & CLIENTS)
                return True
            spec = beside or self._spec(dotted, locations)
            if spec is None:
                return False
            self._take(dotted, spec)
            if spec.origin and _installed(Path(spec.origin)):
                return True
            locations = [str(folder) for folder in spec.submodule_search_locations or ()]
            if not locations and depth < len(names):
                return False
        return True

    def file(self, path: Path, called: str) -> None:
        """Take in a file and, if it is a source, what it takes in."""
        if str(path.resolve()) in self._seen:
            return
        self._seen.add(str(path.resolve()))
        self.parts[called] = content_sha256(path)
        stat = path.stat()
        if stat.st_size <= LARGEST_SOURCE and path.suffix in {".py", *SCRIPTS}:
            self._follow(path, _taken(path, stat.st_mtime_ns, stat.st_size, stat.st_ino), "")

    def _spec(self, dotted: str, locations: Sequence[str] | None) -> ModuleSpec | None:
        try:
            return find_spec(dotted) if locations is None else PathFinder.find_spec(dotted, locations)
        except (ImportError, ValueError, AttributeError, KeyError):  # a broken finder, a module without a spec, a package not imported
            return None

    def _beside(self, dotted: str) -> ModuleSpec | None:
        """Return a module in the program's own folders, which its interpreter looks into first."""
        return PathFinder.find_spec(dotted, [str(folder) for folder in self._folders]) if self._folders else None

    def _take(self, dotted: str, spec: ModuleSpec) -> None:
        if dotted in self._seen or spec.origin in (None, "built-in", "frozen"):
            return
        self._seen.add(dotted)
        path = Path(str(spec.origin))
        if not path.is_file():
            return
        self._seen.add(str(path.resolve()))
        if _installed(path):
            for distribution in _distributions().get(dotted.partition(".")[0], ()):
                self.parts[f"package {distribution}"] = package_version(distribution)
            return
        self.parts[f"module {dotted}"] = content_sha256(path)
        if path.suffix == ".py":
            stat = path.stat()
            package = dotted if spec.submodule_search_locations else dotted.rpartition(".")[0]
            self._follow(path, _taken(path, stat.st_mtime_ns, stat.st_size, stat.st_ino), package)

    def _follow(self, path: Path, taken: _Taken, package: str) -> None:
        self._base = self._base or path.parent
        for level, name, names in taken.modules:
            above = package.split(".") if package else []
            base = ".".join([*above[: len(above) - level + 1], *filter(None, [name])]) if level else name
            if base and self.module(base):
                for inner in names:
                    self.module(f"{base}.{inner}")
        for text in sorted(taken.texts):
            for folder in dict.fromkeys((path.parent, *self._folders, Path.cwd())):
                if found := _named(folder, text, path.suffix):
                    self.file(found, f"file {os.path.relpath(found, self._base)}")
                    break


def _named(folder: Path, text: str, suffix: str) -> Path | None:
    """Return the file that a text names, as it is or with the suffix of the source that it stands in."""
    for candidate in (folder / text, folder / f"{text}{suffix}"):
        try:
            if candidate.is_file():
                return candidate
        except (OSError, ValueError):  # a name that no file can have
            return None
    return None


@lru_cache(1024)
def _taken(path: Path, modified: int, size: int, node: int) -> _Taken:
    try:
        text = path.read_text(encoding="utf-8")
        is_python = path.suffix == ".py" or (not path.suffix and "python" in text.partition("\n")[0])
        return _taken_by_python(text) if is_python else _taken_by_script(text)
    except (SyntaxError, ValueError, RecursionError):  # not a source after all, or one that its interpreter refuses too
        return _Taken((), frozenset())


def _taken_by_python(text: str) -> _Taken:
    modules, texts = list[tuple[int, str, tuple[str, ...]]](), set[str]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _may_name(node.value):
            texts.add(node.value)
        elif isinstance(node, ast.Call) and _imports(node.func) and node.args and isinstance(node.args[0], ast.Constant):
            modules.append((0, str(node.args[0].value).lstrip("."), ()))
    return _Taken(tuple(modules), frozenset(texts))


def _imports(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    return name in ("import_module", "__import__", "run_module")


def _taken_by_script(text: str) -> _Taken:
    words = {word for word in re.split(r"[\s\"'`()<>|;&=,{}\[\]]+", text) if _may_name(word) and ("." in word or "/" in word)}
    return _Taken((), frozenset(words))


def _may_name(text: str) -> bool:
    return 0 < len(text) <= LONGEST_NAME and text.isprintable() and text.strip("./ ") != ""


@cache
def _roots() -> tuple[Path, ...]:
    names = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    return tuple({Path(name).resolve() for name in names} | {Path(name) for name in names})


def _installed(path: Path) -> bool:
    return not _INSTALLED.isdisjoint(path.parts) or any(path.is_relative_to(root) for root in _roots())


@cache
def _distributions() -> dict[str, list[str]]:
    return {name: sorted(set(found)) for name, found in packages_distributions().items()}
