"""Prints the profile of this machine's Python runtime; run as a child process of its own.

The runtime and every plugin are loaded here, so whatever they do to a process, they do to this one.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from typing import Any


def profile() -> dict[str, Any]:
    """etbk.profile/1 of the process it is called in."""
    from executorch.runtime import Runtime

    from executorch_backend_kit import host

    plugins = host.load_plugins()
    runtime = Runtime.get()
    registry = runtime.backend_registry
    formats = {row.id: row for plugin in plugins for row in plugin.blob_formats}

    def backend(name: str) -> dict[str, Any]:
        available = registry.is_available(name)
        row: dict[str, Any] = {"id": name, "available": available}
        if name in formats:
            row["format_oldest"] = formats[name].oldest
            if formats[name].newest:
                row["format_newest"] = formats[name].newest
            row["judges"] = formats[name].judges
            if not available:
                row["reason"] = host.last_error()
        return row

    ids = sorted(set(registry.registered_backend_names) | set(host.registered_backends()))
    return {
        "schema": "etbk.profile/1",
        "kind": "this machine's Python runtime",
        "path": host.runtime_library(),
        "arch": platform.machine(),
        "versions": {
            "executorch": importlib.metadata.version("executorch"),
            "python": platform.python_version(),
        },
        "backends": [backend(name) for name in ids],
        "kernels": [
            {"name": name, "keys": None}
            for name in sorted(runtime.operator_registry.operator_names)
        ],
        "plugins": [plugin.to_json() for plugin in plugins],
    }


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(profile()) + "\n")
