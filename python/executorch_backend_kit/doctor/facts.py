"""Judges a backend by its facts and by what is installed, without importing anything."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from executorch_backend_kit.doctor.environment import Environment, requirement_findings
from executorch_backend_kit.knowledge import Backend
from executorch_backend_kit.report.finding import Finding, Severity


def findings(backend: Backend, environment: Environment) -> Iterator[Finding]:
    """What the knowledge base says against using a backend here."""
    release = environment.executorch or ""
    if release and backend.removed_from(release):
        instead = ", ".join(backend.texts("instead"))
        yield Finding(
            "BACKEND-REMOVED",
            f"{backend.title} was removed in ExecuTorch {backend.get('removed_in')}.",
            evidence=f"installed: {release}; {backend.evidence().to_text()}",
            fix=f"Use one of: {instead}." if instead else "Use another backend.",
        )
        return
    if release and backend.before_its_time(release):
        yield Finding(
            "BACKEND-NOT-IN-RELEASE",
            f"{backend.title} came with ExecuTorch {backend.get('since')}.",
            evidence=f"installed: {release}",
            fix=f"pip install 'executorch>={backend.get('since')}'",
        )
        return
    yield from _host(backend, environment)
    for need in backend.get("requires", default=()):
        if environment.is_one_of(tuple(need.get("platforms", ()))):
            owner = f"{backend.title} ({need['range_from']})" if "range_from" in need else None
            yield from requirement_findings(
                environment, need["package"], need["range"], owner or backend.title, need["install"]
            )


def traps(backend: Backend, environment: Environment) -> Iterator[Finding]:
    """The known traps of this release."""
    for index, trap in enumerate(backend.get("traps", default=())):
        releases = trap.get("releases")
        if releases and not SpecifierSet(releases).contains(environment.executorch or "0"):
            continue
        yield Finding(
            "BACKEND-TRAP",
            trap["text"],
            evidence=backend.evidence("traps", index).to_text(),
            fix=trap.get("fix", ""),
            severity=Severity.INFO,
        )


def _host(backend: Backend, environment: Environment) -> Iterator[Finding]:
    platforms = backend.texts("host", "lowers_on")
    if not environment.is_one_of(platforms):
        yield Finding(
            "HOST-UNSUPPORTED",
            f"{backend.title} does not lower on {environment.platform}.",
            evidence=f"it lowers on {', '.join(platforms)}; {backend.evidence('host').to_text()}",
            fix=f"Use a machine of that kind: {', '.join(platforms)}.",
        )
    wanted = backend.get("host", "python")
    if wanted and not SpecifierSet(wanted).contains(environment.python, prereleases=True):
        yield Finding(
            "PYTHON-UNSUPPORTED",
            f"{backend.title} needs Python {wanted} to lower.",
            evidence=f"this is Python {environment.python}, {sys.executable}",
            fix=f"Make an environment with Python {wanted}.",
        )
