"""Where the installed ExecuTorch is, and which prebuilt host fits it. Imports neither.

The registry of backends lives in one library of each release line: the host must be bound to that
very library, so it is preloaded by its path before the host.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from executorch_backend_kit.host.errors import (
    HostMissingError,
    RuntimeMissingError,
    RuntimeUnsupportedError,
)

# Release line -> libraries that own the registry and what else the host needs, in load order.
LIBRARIES = {
    "1.5": ("lib/libexecutorch.so", "lib/libexecutorch_threadpool.so"),
    "1.4": ("backends/qualcomm/libqnn_executorch_backend.so",),
}
SUPPORTED = ">=1.4,<1.6"


@dataclass(frozen=True)
class RuntimeLocation:
    """One installed ExecuTorch, and the host library for it."""

    folder: Path
    version: str  # "1.5.1"
    line: str  # "1.5"
    libraries: tuple[Path, ...]  # to be loaded before the host, in this order
    host: Path


def host_folder() -> Path:
    """Where this package keeps its prebuilt hosts."""
    return Path(__file__).resolve().parents[1] / "lib"


def locate_runtime() -> RuntimeLocation:
    """Finds the installed ExecuTorch and its host; raises a HostError that says what is missing."""
    folder = _find_executorch()
    version = _read_version(folder)
    line = ".".join(version.split(".")[:2])
    if line not in LIBRARIES:
        raise RuntimeUnsupportedError(
            "RUNTIME-UNSUPPORTED",
            f"ExecuTorch {version} is installed, and this kit has prebuilt hosts for "
            f"{' and '.join(sorted(LIBRARIES))} only.",
            evidence=f"version={version}; path={folder}",
            fix=f"pip install 'executorch{SUPPORTED}', or a newer executorch-backend-kit",
        )
    libraries = tuple(folder / name for name in LIBRARIES[line])
    for library in libraries:
        if not library.is_file():
            raise RuntimeMissingError(
                "RUNTIME-MISSING",
                f"ExecuTorch {version} is installed without {library.name}, which holds the "
                "registry of backends in this release.",
                evidence=f"path={library}",
                fix="On this platform use executorch 1.5, or install the package again: "
                "pip install --force-reinstall --no-deps executorch",
            )
    return RuntimeLocation(folder, version, line, libraries, _find_host(line))


def _find_executorch() -> Path:
    spec = importlib.util.find_spec("executorch")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    for folder in folders:
        if (Path(folder) / "version.py").is_file():
            return Path(folder)
    raise RuntimeMissingError(
        "RUNTIME-MISSING",
        "ExecuTorch is not installed in this Python.",
        evidence="no package executorch with a version.py; searched: "
        + (", ".join(folders) or "-"),
        fix=f"pip install 'executorch{SUPPORTED}'",
    )


def _read_version(folder: Path) -> str:
    text = (folder / "version.py").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"""^__version__\s*=\s*["'](\d+\.\d+[^"'+]*)""", text, re.MULTILINE)
    if found is None:
        raise RuntimeUnsupportedError(
            "RUNTIME-UNSUPPORTED",
            "The installed ExecuTorch does not tell its version.",
            evidence=f"path={folder / 'version.py'}",
            fix=f"pip install 'executorch{SUPPORTED}'",
        )
    return found[1]


def _find_host(line: str) -> Path:
    host = host_folder() / f"libetbk_host-{line}.so"
    if not host.is_file():
        raise HostMissingError(
            "HOST-LIBRARY-MISSING",
            f"This copy of executorch_backend_kit has no prebuilt host for ExecuTorch {line}.",
            evidence=f"path={host}",
            fix="pip install executorch-backend-kit; in a source checkout build and install it "
            "first: scripts/install, or pip install .",
        )
    return host
