"""The backend as the kit finds it, by the entry point executorch_backend_kit.backends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__

if TYPE_CHECKING:
    from executorch_backend_kit.aot import BackendDescriptor


def _partitioner(**options: Any) -> Any:
    from .partitioner import AcmePartitioner

    return AcmePartitioner(**options)


def descriptor() -> BackendDescriptor:
    from executorch_backend_kit.aot import BackendDescriptor

    return BackendDescriptor(
        name="acme",
        id="AcmeBackend",
        package="acme-executorch-backend",
        version=__version__,
        executorch=">=1.4,<1.6",
        partitioner=_partitioner,
        runtime_library=Path(__file__).parent / "lib" / "libacme_executorch_backend.so",
    )
