"""Acme's ExecuTorch backend: elementwise float32 arithmetic on a device that does not exist."""

from typing import Any

__version__ = "1.2.0"
__all__ = ["AcmeBackend", "AcmePartitioner"]


def __getattr__(name: str) -> Any:
    if name == "AcmePartitioner":
        from .partitioner import AcmePartitioner

        return AcmePartitioner
    if name == "AcmeBackend":
        from .backend import AcmeBackend

        return AcmeBackend
    raise AttributeError(name)
