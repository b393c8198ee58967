"""An ExecuTorch backend for a small accelerator in software.

Importing this package is cheap: torch and ExecuTorch are loaded when a name of the ahead-of-time
side is first used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = ["ReferenceBackend", "ReferencePartitioner", "Refusal"]

_IN = {"ReferenceBackend": "backend", "ReferencePartitioner": "partitioner", "Refusal": "supports"}


def __getattr__(name: str) -> Any:
    if name in _IN:
        return getattr(import_module(f"{__name__}.{_IN[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
