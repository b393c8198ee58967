"""Worker that finds and loads plugins through the host. Needs no torch."""

from __future__ import annotations

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
    return {"executorch": host.runtime_version(), "library": host.runtime_library()}


if __name__ == "__main__":
    serve(hello, {"discover": discover, "load_all": load_all, "load_one": load_one})
