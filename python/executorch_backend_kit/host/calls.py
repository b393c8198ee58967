"""The functions of the host; see the package's description."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace

from executorch_backend_kit.host.binding import HostLibrary
from executorch_backend_kit.host.errors import OptionRefusedError
from executorch_backend_kit.host.installed_plugins import installed_plugins
from executorch_backend_kit.host.reports import Counters, ErrorRecord, Plugin
from executorch_backend_kit.host.runtime_location import locate_runtime
from executorch_backend_kit.host.runtime_view import application_backends
from executorch_backend_kit.report.finding import Finding

StrPath = str | os.PathLike[str]
OptionValue = bool | int | str

_lock = threading.Lock()
_host: HostLibrary | None = None


def _opened() -> HostLibrary:
    """The host of this process; loads it on first use."""
    global _host  # noqa: PLW0603 - one host per process, as one registry
    with _lock:
        if _host is None:
            location = locate_runtime()
            _host = HostLibrary(location.host, location.libraries)
        return _host


def discover(
    libraries: Iterable[StrPath] = (),
    manifest_directories: Iterable[StrPath] = (),
    *,
    standard_directories: bool = True,
    environment: bool = True,
    entry_points: bool = True,
) -> tuple[Plugin, ...]:
    """Reads manifests and library notes; runs no vendor code except entry points' descriptors."""
    installed, broken = installed_plugins() if entry_points else ((), ())
    options = _options(
        libraries, manifest_directories, standard_directories, environment, installed
    )
    return _plugins(_opened().document("discover", options)["plugins"]) + broken


def load_plugin(path: StrPath) -> Plugin:
    """Loads one library, named by itself or by its manifest, and registers its backends.

    Calling it again, also by another path to the same file, does nothing and says so.
    """
    document = _opened().document("load_plugin", os.fspath(path))
    return _verified(_plugins(document["plugins"]))[0]


def load_plugins(
    libraries: Iterable[StrPath] = (),
    manifest_directories: Iterable[StrPath] = (),
    *,
    standard_directories: bool = True,
    environment: bool = True,
    entry_points: bool = True,
) -> tuple[Plugin, ...]:
    """Finds plugins and loads each that is not switched off; see `discover`."""
    installed, broken = installed_plugins() if entry_points else ((), ())
    options = _options(
        libraries, manifest_directories, standard_directories, environment, installed
    )
    return _verified(_plugins(_opened().document("load_plugins", options)["plugins"])) + broken


def plugins() -> tuple[Plugin, ...]:
    """Everything judged so far in this process; each library once, with its latest fate."""
    return _plugins(_opened().document("plugins")["plugins"])


def registered_backends() -> tuple[str, ...]:
    """The backends in the registry that the host is bound to, in slot order."""
    return tuple(_opened().document("registered_backends")["backends"])


def audit(names: Sequence[str] | None = None) -> tuple[Finding, ...]:
    """Looks for a second registry in this process.

    Compares `names`, by default the list that an imported `executorch.runtime` reads, with what was
    registered through the host, and names loaded libraries that carry a registry of their own.
    """
    seen = application_backends() if names is None else tuple(names)
    document = _opened().document("audit", json.dumps(seen))
    return tuple(Finding.from_json(finding) for finding in document["findings"])


def last_error() -> str:
    """The sentence behind the last failed call on this thread; empty if there was none."""
    return "" if _host is None else _host.text("last_error")


def recent_errors() -> tuple[ErrorRecord, ...]:
    """The last failures of the process, oldest first."""
    return tuple(ErrorRecord(**error) for error in _opened().document("recent_errors")["errors"])


def counters() -> Counters:
    """Counters of the boundary, for tests and diagnosis."""
    return Counters(**_opened().document("counters"))


def runtime_version() -> str:
    """Release of ExecuTorch that the host in use was compiled for."""
    return _opened().text("runtime_version")


def runtime_library() -> str:
    """File of the library that owns the registry the host is bound to."""
    return _opened().text("runtime_library")


def set_option(backend: str, key: str, value: OptionValue) -> None:
    """Sets a process-wide option of a registered backend; raises OptionRefusedError."""
    answer = _opened().document("set_option", backend, key, json.dumps(value))
    _check_option(backend, key, answer["status"], answer["text"])


def get_option(backend: str, key: str, kind: str) -> OptionValue:
    """A process-wide option of a registered backend; `kind` is "bool", "int" or "string"."""
    answer = _opened().document("get_option", backend, key, kind)
    _check_option(backend, key, answer["status"], answer["text"])
    value: OptionValue = answer["value"]
    return value


def _check_option(backend: str, key: str, status: int, text: str) -> None:
    if status != 0:
        raise OptionRefusedError(
            "OPTION-REFUSED",
            f"The backend {backend!r} refused the option {key!r}: {text or 'no reason given'}.",
            evidence=f"backend={backend}; key={key}; status=0x{status:x}",
            fix="See the backend's documentation for its options.",
        )


def _options(
    libraries: Iterable[StrPath],
    manifest_directories: Iterable[StrPath],
    standard_directories: bool,
    environment: bool,
    installed: Sequence[str],
) -> str:
    return json.dumps(
        {
            "libraries": [os.fspath(path) for path in libraries],
            "manifest_directories": [os.fspath(path) for path in manifest_directories],
            "standard_directories": standard_directories,
            "environment": environment,
            "installed": list(installed),
        },
        ensure_ascii=False,
    )


def _plugins(documents: Iterable[dict[str, object]]) -> tuple[Plugin, ...]:
    return tuple(Plugin.from_json(document) for document in documents)


def _verified(loaded: tuple[Plugin, ...]) -> tuple[Plugin, ...]:
    """The plugins; those that the program's own runtime does not list get a finding."""
    seen = application_backends()
    if seen is None:
        return loaded
    private = [f for f in audit(seen) if f.code == "REGISTRY-PRIVATE"]
    return tuple(
        replace(plugin, findings=(*plugin.findings, *private))
        if plugin.usable and private and not set(plugin.backends) <= set(seen)
        else plugin
        for plugin in loaded
    )
