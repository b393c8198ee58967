"""Where the C++ SDK of this installation lies."""

from __future__ import annotations

from pathlib import Path

from executorch_backend_kit.report.finding import KitError


def cmake_prefix() -> Path:
    """The folder to put into CMAKE_PREFIX_PATH; raises KitError in a source checkout."""
    prefix = Path(__file__).resolve().parent
    config = prefix / "share" / "cmake" / "ExecuTorchBackendKit"
    if not config.is_dir():
        raise KitError(
            "SDK-MISSING",
            "This copy of executorch_backend_kit has no C++ SDK.",
            evidence=f"{config} is not there; a source checkout is imported, or a broken install",
            fix="pip install executorch-backend-kit",
        )
    return prefix
