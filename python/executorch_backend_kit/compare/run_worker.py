"""Worker that runs one program with the stock `executorch.runtime`, plugins loaded by the host."""

from __future__ import annotations

import gc
import re
import statistics
import time
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.lowering import summary
from executorch_backend_kit.compare import tensor_files
from executorch_backend_kit.report.finding import Finding, Severity
from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.protocol import serve

# What `executorch.runtime.Runtime.load_program(path)` does, in the words of ExecuTorch's LoadMode.
LOAD_MODE = "MmapUseMlockIgnoreErrors"

# ExecuTorch's error codes, as far as loading and running can return them.
_MEANINGS = {
    0x01: "Internal",
    0x02: "InvalidState",
    0x10: "NotSupported",
    0x11: "NotImplemented",
    0x12: "InvalidArgument",
    0x13: "InvalidType",
    0x14: "OperatorMissing",
    0x20: "NotFound",
    0x21: "MemoryAllocationFailed",
    0x22: "AccessFailed",
    0x23: "InvalidProgram",
    0x24: "InvalidExternalData",
    0x25: "OutOfResources",
    0x30: "DelegateInvalidCompatibility",
    0x31: "DelegateMemoryAllocationFailed",
    0x32: "DelegateInvalidHandle",
}


class _Session:
    """The one program of this process."""

    def __init__(self) -> None:
        self.method: Any = None
        self.inputs: list[list[Any]] = []
        self.start = (0.0, 0.0)


_session = _Session()


def hello() -> dict[str, Any]:
    """Imports the runtime and names what it has."""
    from executorch.runtime import Runtime

    return {"backends": Runtime.get().backend_registry.registered_backend_names}


def load(request: dict[str, Any]) -> dict[str, Any]:
    """Loads plugins, then the program and its method; times the latter two."""
    from executorch.runtime import Runtime

    findings = [f for path in request["plugins"] for f in _load_plugin(path)]
    registry = Runtime.get().backend_registry
    _require_backends(request["backends"], registry, findings)
    _session.inputs = [tensor_files.read(Path(folder)) for folder in request["inputs"]]
    gc.collect()
    _session.start = _memory()
    begin = time.perf_counter()
    try:
        program = Runtime.get().load_program(Path(request["program"]))
        _session.method = program.load_method("forward")
    except RuntimeError as error:
        raise _runtime_error("RUNTIME-LOAD-FAILED", "could not be loaded", error) from error
    return {
        "load_ms": (time.perf_counter() - begin) * 1e3,
        "load_mode": LOAD_MODE,
        "findings": [f.to_json() for f in findings],
    }


def _load_plugin(path: str) -> list[Finding]:
    from executorch_backend_kit import host

    plugin = host.load_plugin(path)
    return list(plugin.findings)


def _require_backends(ids: list[str], registry: Any, of_plugins: list[Finding]) -> None:
    names = registry.registered_backend_names
    for backend in ids:
        if backend not in names:
            for finding in of_plugins:
                if finding.severity is Severity.ERROR:  # why the backend is not there
                    raise WorkerError.of(finding)
            raise WorkerError(
                "RUNTIME-BACKEND-MISSING",
                f"The program needs backend {backend}, which this runtime does not have.",
                evidence="registered: " + ", ".join(names),
                fix="Install the package that brings its runtime library, or export the model "
                "without this backend.",
            )
        if not registry.is_available(backend):
            text = _host_text()
            raise WorkerError(
                "RUNTIME-BACKEND-UNAVAILABLE",
                f"Backend {backend} says that it cannot run here" + (f": {text}." if text else "."),
                evidence="it is registered; is_available() is false",
                fix="Install what the backend needs: its device, driver or libraries.",
            )


def first(request: dict[str, Any]) -> dict[str, Any]:
    """The first run, timed; then one run for each further input set. Leaves all outputs."""
    begin = time.perf_counter()
    outputs = _execute(_session.inputs[0])
    first_ms = (time.perf_counter() - begin) * 1e3
    rss, anonymous = _memory()
    tensor_files.write(Path(request["outputs"][0]), outputs)
    for values, folder in zip(_session.inputs[1:], request["outputs"][1:], strict=True):
        tensor_files.write(Path(folder), _execute(values))
    return {
        "first_ms": first_ms,
        "rss_mib": rss - _session.start[0],
        "anon_rss_mib": anonymous - _session.start[1],
    }


def timed(request: dict[str, Any]) -> dict[str, Any]:
    """Runs the first input set `count` times; the median and the minimum in nanoseconds."""
    values, clock, method = _session.inputs[0], time.perf_counter_ns, _session.method
    times = []
    gc.disable()
    try:
        for _ in range(request["count"]):
            begin = clock()
            method.execute(values)
            times.append(clock() - begin)
    except RuntimeError as error:
        raise _runtime_error("RUNTIME-EXECUTE-FAILED", "failed in running", error) from error
    finally:
        gc.enable()
    return {"median_ns": statistics.median(times), "minimum_ns": min(times)}


def _execute(values: list[Any]) -> list[Any]:
    try:
        return list(_session.method.execute(values))
    except RuntimeError as error:
        raise _runtime_error("RUNTIME-EXECUTE-FAILED", "failed in running", error) from error


def _runtime_error(code: str, what: str, error: RuntimeError) -> WorkerError:
    found = re.search(r"0x:?([0-9a-fA-F]+)", str(error))
    number = int(found.group(1), 16) if found else None
    meaning = (
        f" (ExecuTorch error 0x{number:x}, {_MEANINGS.get(number, 'unknown')})" if number else ""
    )
    text = _host_text()
    return WorkerError(
        code,
        f"The program {what}{meaning}" + (f": {text}." if text else "."),
        evidence=summary(error),
        fix="Do what the backend says." if text else "See the evidence.",
    )


def _host_text() -> str:
    """The text behind the last failure, if a plugin is loaded and left one."""
    import sys

    host = sys.modules.get("executorch_backend_kit.host")
    return str(host.last_error()).strip().removesuffix(".") if host else ""


def _memory() -> tuple[float, float]:
    """Resident memory of this process, and its anonymous part, in MiB."""
    values = {"VmRSS": 0.0, "RssAnon": 0.0}
    for line in Path("/proc/self/status").read_text().splitlines():
        key, _, rest = line.partition(":")
        if key in values:
            values[key] = int(rest.split()[0]) / 1024
    return values["VmRSS"], values["RssAnon"]


if __name__ == "__main__":
    serve(hello, {"load": load, "first": first, "time": timed})
