"""Verifies knowledge: every fact that this machine can check, against the installed ExecuTorch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch_backend_kit.knowledge.entries import Backend
from executorch_backend_kit.knowledge.store import Knowledge
from executorch_backend_kit.knowledge.verification.comparison import Check, Result, compare
from executorch_backend_kit.knowledge.verification.observations import Progress, observe
from executorch_backend_kit.report.finding import Finding

SCHEMA = "etbk.knowledge/1"


@dataclass(frozen=True)
class Verification:
    """All checks, and the files that could not be read."""

    executorch: str
    platform: str
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """1 if a fact is wrong or a file broken."""
        return int(bool(self.findings))

    def to_json(self) -> dict[str, Any]:
        """The document `etbk.knowledge/1`."""
        counts = Counter(check.result.value for check in self.checks)
        return {
            "schema": SCHEMA,
            "executorch": self.executorch,
            "platform": self.platform,
            "counts": {result.value: counts[result.value] for result in Result},
            "checks": [check.to_json() for check in self.checks],
            "findings": [finding.to_json() for finding in self.findings],
        }


def verify(
    knowledge: Knowledge,
    names: Sequence[str],
    *,
    executorch: str,
    platform: str,
    source: Path | None,
    progress: Progress,
) -> Verification:
    """Checks these backends, or all."""
    chosen = [knowledge.backend(n) for n in names] or list(knowledge.backends.values())
    backends = [b.for_release(executorch) for b in chosen if not b.before_its_time(executorch)]
    seen = observe(backends, platform, source, progress)
    checks = tuple(check for backend in backends for check in compare(backend, seen))
    wrong = tuple(
        _finding(check, knowledge.backends[check.backend])
        for check in checks
        if check.result is Result.WRONG
    )
    return Verification(executorch, platform, checks, (*knowledge.findings, *wrong))


def _finding(check: Check, backend: Backend) -> Finding:
    file = f"{backend.name}.toml" if backend.origin == "kit" else backend.origin
    return Finding(
        "KNOWLEDGE-WRONG",
        f"The recorded fact {check.fact} of {backend.name} is not what is seen here.",
        evidence=f"{file}: recorded {check.recorded}; seen {check.seen}",
        fix="Correct the fact, or record under [releases] what differs in this release.",
    )
