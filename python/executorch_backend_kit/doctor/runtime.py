"""Judges what the Python runtime has: registered backends, free slots, second copies, plugins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from executorch_backend_kit.report.finding import Finding, Severity

SLOTS = 16  # kMaxRegisteredBackends of every release so far

# Libraries of which a process should hold one copy, by the start of their file names.
_SINGLE = {
    "libexecutorch.so": "REGISTRY-SECOND-RUNTIME",
    "_portable_lib": "REGISTRY-SECOND-RUNTIME",
    "libc++.so": "LIBCXX-SECOND-COPY",
    "libstdc++.so": "LIBCXX-SECOND-COPY",
}


@dataclass(frozen=True)
class Runtime:
    """The Python runtime as a child process saw it."""

    examined: bool = False
    slots: tuple[str, ...] = ()
    available: dict[str, bool] = field(default_factory=dict)
    operators: int | None = None
    plugins: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The table of backends and who is in it."""
        return {
            "examined": self.examined,
            "limit": SLOTS,
            "used": len(self.slots),
            "names": list(self.slots),
            "available": self.available,
            "operators": self.operators,
        }


def judge(observed: dict[str, Any] | None) -> Runtime:
    """The runtime that an observation of the job `registry` describes."""
    if observed is None:
        return Runtime()
    results = observed["results"]
    table = next((r for r in results if "slots" in r), None)
    stock = next((r for r in results if "stock" in r), None)
    slots = tuple(table["slots"] if table else stock["stock"] if stock else ())
    plugins = tuple(r["plugin"] for r in results if "plugin" in r)
    return Runtime(
        examined=True,
        slots=slots,
        available={r["backend"]: r["available"] for r in results if "backend" in r},
        operators=stock["operators"] if stock else None,
        plugins=plugins,
        findings=tuple(_findings(observed, slots, table["libraries"] if table else [])),
    )


def _findings(
    observed: dict[str, Any], slots: tuple[str, ...], libraries: list[str]
) -> Iterator[Finding]:
    for module, error in observed.get("preloaded", {}).items():
        if error:
            yield Finding(
                "PACKAGE-IMPORT-FAILED",
                f"{module} cannot be imported, so no backend can be lowered for here.",
                evidence=error,
                fix=f"python -c 'import {module}' shows the whole error; reinstall that package.",
            )
    if observed["outcome"] != "done":
        yield Finding(
            "RUNTIME-EXAMINATION-FAILED",
            f"The Python runtime of ExecuTorch could not be examined: {observed['outcome']}.",
            evidence=" ".join((observed["detail"], observed["output"].strip())),
            fix="python -c 'import executorch.runtime' shows the whole error.",
        )
    for result in observed["results"]:
        if "finding" in result:
            yield Finding.from_json(result["finding"])
        if "plugin" in result:
            for finding in result["plugin"]["findings"]:
                yield Finding.from_json(finding)
    if len(slots) >= SLOTS:
        yield Finding(
            "REGISTRY-FULL",
            "The runtime's table of backends is full: one more is refused without a word.",
            evidence=f"{len(slots)} of {SLOTS} slots: {', '.join(slots)}",
            fix="Switch plugins off that are not needed: ETBK_DISABLE=NAME,NAME.",
            severity=Severity.WARNING,
        )
    yield from _second_copies(libraries)


def _second_copies(libraries: list[str]) -> Iterator[Finding]:
    copies: dict[str, set[str]] = defaultdict(set)
    for path in libraries:
        for start in _SINGLE:
            if Path(path).name.startswith(start):
                copies[start].add(path)
    for start, paths in copies.items():
        if len(paths) > 1:
            what = "ExecuTorch runtime" if "REGISTRY" in _SINGLE[start] else "C++ library"
            yield Finding(
                _SINGLE[start],
                f"The process holds {len(paths)} copies of the {what} ({start}).",
                evidence=", ".join(sorted(paths)),
                fix="Find who loads the second one (LD_DEBUG=libs) and remove it from "
                "LD_LIBRARY_PATH, or uninstall that package.",
                severity=Severity.WARNING,
            )
