"""What a measurement was made with: the machine, the releases, how busy the machine was."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import executorch_backend_kit
from executorch_backend_kit.aot.descriptor import BackendDescriptor


def describe(backends: list[BackendDescriptor]) -> dict[str, Any]:
    """The environment as JSON data; what cannot be found out is None."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "governor": _governor(),
        "load_average": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "kit": executorch_backend_kit.__version__,
        "torch": _version("torch"),
        "executorch": _version("executorch"),
        "backends": {b.name: f"{b.package} {b.version}" for b in backends},
        "plugins": {
            b.runtime_library.name: _hash(b.runtime_library)
            for b in backends
            if b.runtime_library is not None
        },
    }


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _governor() -> str | None:
    """How the kernel chooses the first CPU's frequency."""
    try:
        path = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
        return path.read_text().strip()
    except OSError:
        return None


def _hash(path: Path) -> str | None:
    try:
        return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _processor() -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or None
