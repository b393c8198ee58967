"""Temporary folders that do not outlive their process for long.

A folder is locked as long as its process lives. What a killed process left behind is not locked any
more, and is removed by the next one that makes such a folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_LOCK = ".lock"


class Scratch:
    """A new folder in the system's place for temporary files."""

    def __init__(self, purpose: str) -> None:
        """`purpose`: a word that begins the folder's name, after "etbk-"."""
        prefix = f"etbk-{purpose}-"
        _remove_forgotten(prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Removes the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _remove_forgotten(prefix: str) -> None:
    for lock in Path(tempfile.gettempdir()).glob(f"{prefix}*/{_LOCK}"):
        with suppress(OSError):  # somebody else's, alive, or just removed
            handle = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(handle)
