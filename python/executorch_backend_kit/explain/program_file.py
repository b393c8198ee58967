"""What a program file alone tells: delegates, operators outside of them, kernels. No reasons: those
are in the model, not in the file."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from executorch_backend_kit.compare import environment
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.explain.kernels import needed
from executorch_backend_kit.pte import ProgramFile
from executorch_backend_kit.pte.errors import PteError
from executorch_backend_kit.report.explanation import Explanation
from executorch_backend_kit.report.finding import Finding, Severity
from executorch_backend_kit.workers.errors import WorkerError
from executorch_backend_kit.workers.process import Worker

_NO_FILE = ("PTE-001", "PTE-002")


def explain(path: Path) -> Explanation:
    """Explains a program file; raises ModelError if there is none, PteError if it is not sound."""
    begin = time.monotonic()
    with ProgramFile.open(path) as file:
        if not file.is_sound:
            (finding, *_) = file.verify(level="structure").findings
            raise (ModelError if finding.code in _NO_FILE else PteError).of(finding)
        document = file.inspect()
    findings = [
        Finding(
            "EXPLAIN-NO-SOURCE",
            "A program file does not tell why an operator was left outside of its delegates.",
            evidence=path.name,
            fix="etbk explain MODEL.py with the model that it was made from",
            severity=Severity.INFO,
        ).to_json()
    ]
    kernels = None
    try:
        kernels = _kernels()
    except WorkerError as error:
        findings.append(error.finding.to_json())
    operators = _operators(document)
    nodes = list(_nodes(document))
    return Explanation(
        model=str(path),
        configuration="+".join(dict.fromkeys(d["id"] for d in _delegates(document))) or "portable",
        backends=tuple(_backends(document)),
        summary=_summary(document, nodes),
        stages=(),
        nodes=tuple(nodes),
        blockers=(),
        cures=(),
        kernels_needed=tuple(needed(operators, kernels)),
        experiments={},
        findings=(*document["findings"], *findings),
        seconds={"total": round(time.monotonic() - begin, 2)},
        environment=environment.describe([]),
    )


def _kernels() -> list[str]:
    """The kernels of this machine's runtime; raises WorkerError."""
    with tempfile.TemporaryDirectory(prefix="etbk-explain-") as folder:
        worker = Worker("executorch_backend_kit.explain.runner", Path(folder) / "runner.log")
        try:
            kernels: list[str] = worker.receive()["kernels"]
        finally:
            worker.stop()
    return kernels


def _delegates(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [d for method in document["methods"] for d in method["delegates"]]


def _operators(document: dict[str, Any]) -> list[dict[str, str]]:
    found = {
        (o["name"], o["overload"]): None
        for method in document["methods"]
        for o in method["operators"]
    }
    return [{"op": name, "overload": overload} for name, overload in found]


def _backends(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    ids = [d["id"] for d in _delegates(document)]
    for name in dict.fromkeys(ids):
        yield {
            "name": name,
            "id": name,
            "package": "",
            "delegates": ids.count(name),
            "choosing_seconds": None,
        }


def _nodes(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The operators outside of delegates; the file has each once, with how often it is called."""
    for method in document["methods"]:
        for operator in method["operators"]:
            name = f"{operator['name']}.{operator['overload']}".rstrip(".")
            yield {
                "name": f"{method['name']}: {name}",
                "op": name.replace("::", "."),
                "kind": "scalar" if name.startswith("executorch_prim") else "tensor",
                "unit": name,
                "precision": "unknown",
                "delegated": False,
                "backend": None,
                "delegate": None,
                "arithmetic": None,
                "bytes": None,
                "reason": None,
                "reasons": [],
                "source": None,
            }


def _summary(document: dict[str, Any], nodes: list[dict[str, Any]]) -> dict[str, Any]:
    tensor = [n for n in nodes if n["kind"] == "tensor"]
    return {
        "delegates": len(_delegates(document)),
        "delegated": {"arithmetic": None, "bytes": None, "nodes": None},
        "arithmetic": {"total": None, "delegated": None, "unknown_operators": []},
        "nodes": {
            "tensor": len(tensor),
            "delegated": 0,
            "undelegated": len(tensor),
            "scalar": len(nodes) - len(tensor),
        },
        "boundary_bytes": None,
        "boundary_tensors": None,
        "boundary_conversions": None,
        "boundary": [],
        "reasons": {"stated": 0, "derived": 0, "inferred": 0, "unknown": 0},
        "precision": {},
    }
