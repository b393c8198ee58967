"""Worker with the stock runtime: says which kernels it has, loads the program and runs it once."""

from __future__ import annotations

from typing import Any

from executorch_backend_kit.compare.run_worker import first, load
from executorch_backend_kit.workers.protocol import serve


def hello() -> dict[str, Any]:
    """Imports the runtime and names its kernels."""
    from executorch.runtime import Runtime

    return {"kernels": sorted(Runtime.get().operator_registry.operator_names)}


if __name__ == "__main__":
    serve(hello, {"load": load, "first": first})
