"""A hash of the Python code that lowers for a backend.

A version number stays the same while somebody develops; the code does not. With the hash in its
key, the cache never answers with what older code made.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import executorch_backend_kit.aot


def of_lowering() -> str:
    """Hash of the kit's own lowering code."""
    return _of_folder(Path(executorch_backend_kit.aot.__file__).parent)


def of_partitioner(partitioner: Callable[..., Any]) -> str:
    """Hash of the package, or the single module, that defines `partitioner`."""
    name = getattr(partitioner, "__module__", "").partition(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or name == "executorch_backend_kit":  # a stock backend: its version says all
        return ""
    path = Path(file)
    return _of_folder(path.parent) if path.name == "__init__.py" else _of_file(path)


def _of_folder(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder)} {_of_file(path)}\n".encode())
    return digest.hexdigest()


def _of_file(path: Path) -> str:
    """Code by content; other files, which may be large, by size and date."""
    if path.suffix == ".py":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"
