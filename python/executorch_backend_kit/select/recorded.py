"""Latencies that `etbk compare` recorded on the target, read from its documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from executorch_backend_kit.doctor.environment import MACHINES, SYSTEMS
from executorch_backend_kit.knowledge import Target
from executorch_backend_kit.report.finding import Finding, Severity
from executorch_backend_kit.select.errors import SelectionError
from executorch_backend_kit.select.measurements import Result


def results_of(
    files: Sequence[Path], target: Target
) -> tuple[dict[str, Result], tuple[Finding, ...]]:
    """The results for this target by backend, and why others do not count."""
    results: dict[str, Result] = {}
    findings = []
    for file in files:
        document = _read(file)
        where = _place(document)
        if not _is_target(document, target):
            findings.append(
                Finding(
                    "SELECT-RESULT-OF-ANOTHER-DEVICE",
                    f"{file.name} was recorded on another device and does not count.",
                    evidence=f"recorded on: {where}; target: {target.name}",
                    fix="Record one there: etbk compare MODEL --device DEVICE --json.",
                    severity=Severity.WARNING,
                )
            )
            continue
        for row in document["rows"]:
            latency = row.get("latency") or {}
            if row.get("status") == "ok" and latency.get("interval"):
                low, high = latency["interval"]
                # The ratio says how many times as fast; what counts here is time.
                name = row["configuration"].partition("+")[0]
                results[name] = Result(1 / high, 1 / low, f"{file.name}, {where}")
    return results, tuple(findings)


def _read(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if document["schema"] != "etbk.compare/1" or not isinstance(document["rows"], list):
            raise ValueError("it is no document of `etbk compare --json`")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SelectionError(
            "SELECT-RESULTS-INVALID",
            f"{file.name} holds no recorded results.",
            evidence=f"{file}: {getattr(error, 'strerror', None) or error}",
            fix="Give a file that `etbk compare --json` printed.",
        ) from None
    assert isinstance(document, dict)
    return document


def _place(document: dict[str, Any]) -> str:
    environment = document.get("environment", {})
    device = environment.get("device")
    return str(device or environment.get("processor") or environment.get("machine") or "?")


def _is_target(document: dict[str, Any], target: Target) -> bool:
    """True for a device recorded by name, or for a plain machine of the target's platform."""
    environment = document.get("environment", {})
    if named := environment.get("target"):
        return bool(named == target.name)
    system = SYSTEMS.get(str(environment.get("system")), "")
    machine = MACHINES.get(str(environment.get("machine")), "")
    plain = not any(target.get(part) for part in ("soc", "gpu", "npu", "dsp"))
    return plain and target.get("os", "platform") == f"{system}-{machine}"
