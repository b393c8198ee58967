"""The backend in the words of the ExecuTorch Backend Kit; found through its entry point."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__
from .versions import SUPPORTED

if TYPE_CHECKING:
    from executorch_backend_kit.aot.descriptor import BackendDescriptor


def runtime_library() -> Path:
    """The plugin that this package brought along."""
    return Path(__file__).parent / "lib" / "libreference_executorch_backend.so"


def _partitioner(**options: Any) -> Any:
    from .partitioner import ReferencePartitioner

    # The kit lowers in stages: each partitioner is alone in its list.
    return ReferencePartitioner(whole_attention=True, **options)


def descriptor() -> "BackendDescriptor":
    """Entry point `executorch_backend_kit.backends`. Imports neither torch nor ExecuTorch."""
    from executorch_backend_kit.aot.descriptor import BackendDescriptor, Option

    weights = Option(str, "blob", "where weights are stored", ("blob", "named"))
    return BackendDescriptor(
        name="reference",
        id="ReferenceBackend",
        package="reference-executorch-backend",
        version=__version__,
        executorch=SUPPORTED,
        partitioner=_partitioner,
        runtime_library=runtime_library(),
        options={"weights": weights},
    )
