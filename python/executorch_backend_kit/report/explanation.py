"""The result of `etbk explain` as data, in the fields of `etbk.explain/1`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA = "etbk.explain/1"


@dataclass(frozen=True)
class Explanation:
    """Why the operators of a model are where they are.

    model:          path of the MODEL, or of the program file
    summary:        None if lowering did not come to a choice
    gates, changes: what the caller asked for beside
    """

    model: str
    configuration: str
    backends: tuple[dict[str, Any], ...]
    summary: dict[str, Any] | None
    stages: tuple[dict[str, Any], ...]
    nodes: tuple[dict[str, Any], ...]
    blockers: tuple[dict[str, Any], ...]
    cures: tuple[dict[str, Any], ...]
    kernels_needed: tuple[dict[str, Any], ...]
    experiments: Mapping[str, Any]
    findings: tuple[dict[str, str], ...]
    seconds: Mapping[str, float]
    environment: Mapping[str, Any]
    gates: tuple[dict[str, Any], ...] = ()
    changes: dict[str, Any] | None = field(default=None)

    def to_json(self) -> dict[str, Any]:
        """The whole document."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "configuration": self.configuration,
            "backends": list(self.backends),
            "summary": self.summary,
            "stages": list(self.stages),
            "nodes": list(self.nodes),
            "blockers": list(self.blockers),
            "cures": list(self.cures),
            "kernels_needed": list(self.kernels_needed),
            "experiments": dict(self.experiments),
            "changes": self.changes,
            "gates": list(self.gates),
            "findings": list(self.findings),
            "seconds": dict(self.seconds),
            "environment": dict(self.environment),
        }

    @property
    def exit_code(self) -> int:
        """0 answered; 1 a gate failed."""
        return 0 if all(gate["passed"] for gate in self.gates) else 1
