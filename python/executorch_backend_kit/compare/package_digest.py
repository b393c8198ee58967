"""A hash of the Python code that lowers for a backend.

A version number stays the same while somebody develops; the code does not. With the hash in its
key, the cache never answers with what older code made.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import executorch_backend_kit.aot
from executorch_backend_kit.aot.descriptor import BackendDescriptor


def of_lowering() -> str:
    """Hash of the kit's own lowering code."""
    return _of_folder(Path(executorch_backend_kit.aot.__file__).parent)


def of_backend(descriptor: BackendDescriptor) -> str:
    """Hash of the package, or the single module, that defines the backend's partitioner."""
    name = getattr(descriptor.partitioner, "__module__", "").partition(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or name == "executorch_backend_kit":  # a stock backend: its version says all
        return ""
    path = Path(file)
    if path.name != "__init__.py":
        return _of_file(path)
    library = descriptor.runtime_library
    return _of_folder(path.parent, leave_out=library.stem if library else "")


def _of_folder(folder: Path, leave_out: str = "") -> str:
    """Over all files but compiled Python, and the runtime library, which takes no part."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.stem != leave_out:
            digest.update(f"{path.relative_to(folder)} {_of_file(path)}\n".encode())
    return digest.hexdigest()


def _of_file(path: Path) -> str:
    """Code by content; other files, which may be large, by size and date."""
    if path.suffix == ".py":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"
