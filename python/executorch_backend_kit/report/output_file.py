"""A file that a person asked for: it appears whole, or what was there stays."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from executorch_backend_kit.report.finding import KitError


def check_place(path: Path) -> None:
    """Raises KitError if `path` cannot be written: to be asked before long work."""
    if path.is_dir():
        raise _not_written(path, f"{path} is a folder")
    if not path.parent.is_dir():
        raise _not_written(path, f"{path.parent}: no such folder")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise _not_written(path, f"{path.parent}: permission denied")


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes `content` under a temporary name beside `path` and renames it; raises KitError.

    A new file gets the mode that the process' umask gives, as with open().
    """
    data = content.encode() if isinstance(content, str) else content
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.umask(umask := os.umask(0))
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise _not_written(
            path, f"{path.parent}: {getattr(error, 'strerror', 0) or error}"
        ) from None


def _not_written(path: Path, evidence: str) -> KitError:
    return KitError(
        "FILE-NOT-WRITTEN",
        f"{path.name} cannot be written.",
        evidence=evidence,
        fix="Name a file in a folder that exists, that you can write to and that has space.",
    )
