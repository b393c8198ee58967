"""The list of backends as the application's own ExecuTorch reads it, in this process."""

from __future__ import annotations

import sys

_EXTENSIONS = (
    "executorch.extension.pybindings._C",  # 1.5
    "executorch.extension.pybindings._portable_lib",  # 1.4
)


def application_backends() -> tuple[str, ...] | None:
    """Names in the runtime's list; None while the program has not imported the runtime."""
    for name in _EXTENSIONS:
        module = sys.modules.get(name)
        read = getattr(module, "_get_registered_backend_names", None)
        if read is not None:
            return tuple(read())
    return None
