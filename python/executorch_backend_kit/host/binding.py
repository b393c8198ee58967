"""The prebuilt host library, by ctypes: texts and JSON documents go in and out."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from executorch_backend_kit.host.errors import HostError, HostMissingError
from executorch_backend_kit.report.finding import Finding

# Name -> number of text arguments.
_FUNCTIONS = {
    "discover": 1,
    "load_plugins": 1,
    "load_plugin": 1,
    "plugins": 0,
    "registered_backends": 0,
    "audit": 1,
    "recent_errors": 0,
    "counters": 0,
    "set_option": 3,
    "get_option": 3,
    "last_error": 0,
    "runtime_version": 0,
    "runtime_library": 0,
}


class HostLibrary:
    """A loaded host. Calls may come from any thread."""

    def __init__(self, library: Path, preload: Sequence[Path]) -> None:
        # Local scope: nothing of these becomes visible to libraries that did not ask for it.
        mode = os.RTLD_NOW | os.RTLD_LOCAL
        try:
            self._preloaded = [ctypes.CDLL(str(path), mode=mode) for path in preload]
            self._library = ctypes.CDLL(str(library), mode=mode)
        except OSError as error:
            raise HostMissingError(
                "HOST-LIBRARY-FAILED",
                f"The prebuilt host {library.name} could not be loaded.",
                evidence=str(error),
                fix="Install executorch and executorch-backend-kit again; if that does not help, "
                "report this text.",
            ) from error
        self._free = self._library.etbk_host_free
        self._free.argtypes = [ctypes.c_void_p]
        self._free.restype = None
        self._functions: dict[str, Any] = {}
        for name, count in _FUNCTIONS.items():
            function = getattr(self._library, "etbk_host_" + name)
            function.argtypes = [ctypes.c_char_p] * count
            function.restype = ctypes.c_void_p
            self._functions[name] = function

    def text(self, name: str, *arguments: str | None) -> str:
        """Calls a function that answers with plain text."""
        # File names that are not UTF-8 come from Python with surrogates in them.
        given = [None if text is None else os.fsencode(text) for text in arguments]
        if any(text is not None and b"\0" in text for text in given):
            raise HostError(
                "HOST-REQUEST-INVALID",
                f"The request {name!r} to the host holds a zero character.",
                evidence=f"arguments={arguments!r}",
                fix="Correct the path or name.",
            )
        pointer = self._functions[name](*given)
        if not pointer:
            raise MemoryError(f"etbk_host_{name}")
        try:
            return ctypes.string_at(pointer).decode("utf-8", errors="replace")
        finally:
            self._free(pointer)

    def document(self, name: str, *arguments: str | None) -> dict[str, Any]:
        """Calls a function that answers with JSON; raises HostError for a bad request."""
        document: dict[str, Any] = json.loads(self.text(name, *arguments))
        for finding in document.get("findings", ()):
            if finding["code"] == "HOST-REQUEST-INVALID":
                raise HostError.of(Finding.from_json(finding))
        return document
