"""A finding: one observation for people, with a stable code and the cure.

KitError                   carries one finding
+-- aot.errors.*           describing, finding and lowering for backends
+-- compare.errors.*       MODEL files
+-- workers.errors.*       child processes
+-- host.errors.*          loading plugins into a runtime
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeVar


class Severity(str, Enum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Finding:
    """What was observed, the evidence for it, and what to do."""

    code: str
    message: str
    evidence: str = ""
    fix: str = ""
    severity: Severity = Severity.ERROR

    def to_json(self) -> dict[str, str]:
        """The finding in the fields that every report uses."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "message": self.message,
            "evidence": self.evidence,
            "fix": self.fix,
        }

    @staticmethod
    def from_json(data: dict[str, str]) -> Finding:
        """The inverse of `to_json`."""
        return Finding(
            code=data["code"],
            message=data["message"],
            evidence=data.get("evidence", ""),
            fix=data.get("fix", ""),
            severity=Severity(data.get("severity", "error")),
        )

    def to_text(self) -> str:
        """The finding as a person reads it, on up to three lines."""
        lines = [f"{self.severity.value}[{self.code}]: {self.message}"]
        if self.evidence:
            lines.append(f"  seen: {self.evidence}")
        if self.fix:
            lines.append(f"  do:   {self.fix}")
        return "\n".join(lines)


Error = TypeVar("Error", bound="KitError")


class KitError(Exception):
    """An error that a person may meet; `finding` says all of it."""

    def __init__(self, code: str, message: str, *, evidence: str = "", fix: str = "") -> None:
        self.finding = Finding(code, message, evidence, fix)
        super().__init__(self.finding.to_text())

    @classmethod
    def of(cls: type[Error], finding: Finding) -> Error:
        """An error that carries a finding made elsewhere, for example in a worker process."""
        return cls(finding.code, finding.message, evidence=finding.evidence, fix=finding.fix)
