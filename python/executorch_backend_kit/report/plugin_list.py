"""The result of `etbk plugins` as data, in the fields of `etbk.plugins/1`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from executorch_backend_kit.aot.discovery import Candidate
from executorch_backend_kit.host.reports import Plugin

SCHEMA = "etbk.plugins/1"


@dataclass(frozen=True)
class PluginList:
    """The plugins for the runtime, and the backends that models can be lowered for.

    runtime:    release of ExecuTorch that plugins are loaded into, and the library that owns its
                registry
    registered: ids that the runtime lists after loading; None if they could not be loaded together
    """

    runtime: dict[str, str]
    registered: list[str] | None
    plugins: tuple[Plugin, ...]
    backends: tuple[Candidate, ...]

    def to_json(self) -> dict[str, Any]:
        """The whole document."""
        return {
            "schema": SCHEMA,
            "runtime": self.runtime,
            "registered": self.registered,
            "plugins": [plugin.to_json() for plugin in self.plugins],
            "backends": [_backend(candidate) for candidate in self.backends],
        }


def _backend(candidate: Candidate) -> dict[str, Any]:
    descriptor = candidate.descriptor
    assert descriptor
    library = descriptor.runtime_library
    return {
        "name": descriptor.name,
        "id": descriptor.id,
        "package": descriptor.package,
        "version": descriptor.version,
        "executorch": descriptor.executorch,
        "source": candidate.source,
        "usable": candidate.usable,
        "runtime_library": None if library is None else str(library),
        "findings": [f.to_json() for f in candidate.findings],
    }
