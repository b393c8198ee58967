"""A file for writers that cannot bear errors.

torch ends the process when the disk is full while it saves a program. This file takes everything,
remembers the first error, and raises it when it is closed.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any


class PatientFile(io.RawIOBase):
    """Writes from front to back into a new file. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("wb", buffering=0)
        self._error: OSError | None = None
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Writes as long as nothing has gone wrong."""
        left = memoryview(data).cast("B")
        size = len(left)
        try:
            while left and self._error is None:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._error = error
        self._size += size
        return size

    def tell(self) -> int:
        return self._size

    def seek(self, offset: int, _whence: int = io.SEEK_SET, /) -> int:
        """torch goes back to the start after its last write; nothing is read or written there."""
        return offset

    def close(self) -> None:
        """Closes the file; raises the first error."""
        super().close()
        self._file.close()
        if self._error is not None:
            error, self._error = self._error, None
            raise error
