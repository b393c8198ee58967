"""Worker that finds and loads plugins through the host. Needs no torch."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from typing import Any

from executorch_backend_kit import host
from executorch_backend_kit.workers.protocol import serve


def discover(_: dict[str, Any]) -> dict[str, Any]:
    """All candidates; runs no vendor code."""
    return {"plugins": [plugin.to_json() for plugin in host.discover()]}


def load_all(_: dict[str, Any]) -> dict[str, Any]:
    """All candidates, loaded."""
    plugins = [plugin.to_json() for plugin in host.load_plugins()]
    return {"plugins": plugins, "registered": list(host.registered_backends())}


def load_one(request: dict[str, Any]) -> dict[str, Any]:
    """One candidate, loaded."""
    return {"plugin": host.load_plugin(request["path"]).to_json()}


def hello() -> dict[str, Any]:
    """Which runtime plugins are loaded into."""
    runtime = {"executorch": host.runtime_version(), "library": host.runtime_library()}
    load_stock_backends()
    return runtime


def load_stock_backends() -> None:
    """Registers the backends that come with ExecuTorch: in a program they hold ids and slots before
    any plugin. Release 1.4 has them inside an extension module that needs torch: not seen here."""
    folder = host.locate_runtime().folder / "lib"
    for library in sorted(folder.glob("libexecutorch_backend_*.so")):
        with suppress(OSError):  # a backend that does not load takes no slot
            ctypes.CDLL(str(library), mode=os.RTLD_NOW | os.RTLD_LOCAL)


if __name__ == "__main__":
    serve(hello, {"discover": discover, "load_all": load_all, "load_one": load_one})
