"""Keeps what trials saw, by a fingerprint of everything that could change it.

    doctor/<fingerprint>.json    {"format", "made", "runtime", "backends": {name: observation}}

Facts, SDKs and installed versions are looked at afresh each time; only trials are kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import executorch_backend_kit
from executorch_backend_kit.compare.cache import default_folder
from executorch_backend_kit.knowledge import Knowledge
from executorch_backend_kit.report.finding import Finding, Severity

_FORMAT = 1
_KEPT = 10
_VARIABLES = (
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PYTHONPATH",
    "XDG_DATA_HOME",
    "ETBK_PLUGINS",
    "ETBK_ADD_PLUGINS",
    "ETBK_SELECT",
    "ETBK_DISABLE",
)


@dataclass(frozen=True)
class Kept:
    """Trials kept from before."""

    made: float
    runtime: dict[str, Any]
    backends: dict[str, Any]


def fingerprint(knowledge: Knowledge, plugin_files: Iterable[str]) -> str:
    """A digest of the interpreter, the installed packages, plugins, variables and knowledge."""
    variables = {*_VARIABLES}
    for backend in knowledge.backends.values():
        variables.update(backend.texts("runtime", "variables"))
        for sdk in backend.get("sdk", default=()):
            variables.update(sdk["variables"])
    parts = {
        "format": _FORMAT,
        "kit": executorch_backend_kit.__version__,
        "python": [sys.version, sys.executable, platform.machine()],
        "path": sys.path,
        "packages": [_stamps(Path(folder)) for folder in sys.path],
        "plugins": [_stamp(Path(file)) for file in sorted(plugin_files)],
        "variables": {name: os.environ.get(name) for name in sorted(variables)},
        "knowledge": {name: dict(b.data) for name, b in knowledge.backends.items()},
    }
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _stamps(folder: Path) -> list[list[Any]]:
    with suppress(OSError):
        entries = list(os.scandir(folder))
        infos = (e for e in entries if e.name.endswith((".dist-info", ".egg-link", ".pth")))
        return sorted([e.name, e.stat().st_mtime_ns] for e in infos)
    return []


def _stamp(file: Path) -> list[Any]:
    with suppress(OSError):
        status = file.stat()
        return [str(file), status.st_size, status.st_mtime_ns]
    return [str(file)]


def read(key: str) -> tuple[Kept | None, tuple[Finding, ...]]:
    """What is kept under a fingerprint, and what was wrong with it."""
    path = _path(key)
    try:
        document = json.loads(path.read_bytes())
        if document["format"] != _FORMAT:
            return None, ()
        return Kept(float(document["made"]), document["runtime"], dict(document["backends"])), ()
    except FileNotFoundError:
        return None, ()
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, (
            Finding(
                "CACHE-DAMAGED",
                "What the last examination saw could not be read, so everything was tried again.",
                evidence=f"{path}: {type(error).__name__}: {error}",
                fix=f"rm {path}",
                severity=Severity.WARNING,
            ),
        )


def write(key: str, runtime: Mapping[str, Any], backends: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Keeps trials; a finding if that is not possible."""
    path = _path(key)
    document = {"format": _FORMAT, "made": time.time(), "runtime": runtime, "backends": backends}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False) as new:
            json.dump(document, new)
        Path(new.name).replace(path)
        _forget_old(path.parent)
    except OSError as error:
        return (
            Finding(
                "CACHE-NOT-WRITABLE",
                "What was seen could not be kept, so the next call takes as long.",
                evidence=f"{path.parent}: {error.strerror}",
                fix="Make the folder writable, or set ETBK_CACHE to one that is.",
                severity=Severity.WARNING,
            ),
        )
    return ()


def _forget_old(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[_KEPT:]:
        file.unlink(missing_ok=True)


def _path(key: str) -> Path:
    return default_folder() / "doctor" / f"{key}.json"
