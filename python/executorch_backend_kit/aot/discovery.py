"""Finds the backends that can be lowered for, each with what speaks against it.

Stock backends come from `stock.py`, all others from entry points. One vendor's mistake is a finding
on that vendor's candidate and never reaches another. Nothing here imports torch or executorch.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import metadata, util

from executorch_backend_kit.aot import stock
from executorch_backend_kit.aot.descriptor import ENTRY_POINT_GROUP, BackendDescriptor
from executorch_backend_kit.report.finding import Finding, KitError, Severity


@dataclass(frozen=True)
class Candidate:
    """Something that says it describes a backend, and what was found out about it."""

    source: str  # "stock" or "entry point NAME of PACKAGE VERSION"
    descriptor: BackendDescriptor | None
    findings: tuple[Finding, ...] = ()

    @property
    def usable(self) -> bool:
        """True if models can be lowered for it here."""
        return self.descriptor is not None and self.reason is None

    @property
    def reason(self) -> Finding | None:
        """The first finding that makes it unusable."""
        return next((f for f in self.findings if f.severity is Severity.ERROR), None)

    def with_finding(self, finding: Finding) -> Candidate:
        """The same candidate with one more finding."""
        return replace(self, findings=(*self.findings, finding))


def executorch_version() -> str | None:
    """Version of the installed ExecuTorch without the build suffix, read without importing it."""
    try:
        return metadata.version("executorch").partition("+")[0]
    except metadata.PackageNotFoundError:
        return None


def discover() -> tuple[Candidate, ...]:
    """Every stock backend, then every entry point in the order of names."""
    points = sorted(metadata.entry_points(group=ENTRY_POINT_GROUP), key=lambda p: (p.name, p.value))
    candidates = [Candidate("stock", d) for d in stock.descriptors()]
    candidates += [_from_entry_point(point) for point in _without_repeats(points)]
    version = executorch_version()
    return tuple(_check_environment(c, version) for c in _check_duplicates(candidates))


def _without_repeats(points: Iterable[metadata.EntryPoint]) -> list[metadata.EntryPoint]:
    """A distribution that is found twice on the path, as in editable installs, counts once."""
    unique = {(p.name, p.value, p.dist.name if p.dist else ""): p for p in points}
    return list(unique.values())


def _from_entry_point(point: metadata.EntryPoint) -> Candidate:
    owner = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"
    source = f"entry point {point.name} of {owner}"
    had_torch = "torch" in sys.modules
    try:
        descriptor = point.load()()
    except KitError as error:
        return Candidate(source, None, (error.finding,))
    except (Exception, SystemExit) as error:  # a vendor's code may raise anything
        return Candidate(
            source,
            None,
            (
                Finding(
                    "DESCRIPTOR-FAILED",
                    f"Backend entry point {point.name!r} of {owner} raised an error.",
                    evidence=f"{point.value}: {type(error).__name__}: {error}",
                    fix="Reinstall or update the package, or report the error to its maker.",
                ),
            ),
        )
    if not isinstance(descriptor, BackendDescriptor):
        return Candidate(
            source,
            None,
            (
                Finding(
                    "DESCRIPTOR-INVALID",
                    f"Backend entry point {point.name!r} of {owner} did not return a "
                    "BackendDescriptor.",
                    evidence=f"{point.value} returned {type(descriptor).__name__}",
                    fix="Return executorch_backend_kit.aot.BackendDescriptor(...) from it.",
                ),
            ),
        )
    candidate = Candidate(source, descriptor)
    if not had_torch and "torch" in sys.modules:
        candidate = candidate.with_finding(
            Finding(
                "DESCRIPTOR-IMPORTS-TORCH",
                f"Describing backend {descriptor.name} imports torch, which slows every command.",
                evidence=f"{point.value} of {owner}",
                fix="Import torch and executorch inside the partitioner function.",
                severity=Severity.WARNING,
            )
        )
    return candidate


def _check_duplicates(candidates: list[Candidate]) -> list[Candidate]:
    """Refuses candidates that share a name or an id; a stock backend keeps its own."""
    for field in ("name", "id"):
        owners = Counter(getattr(c.descriptor, field) for c in candidates if c.descriptor)
        for index, candidate in enumerate(candidates):
            if candidate.descriptor is None or candidate.source == "stock":
                continue
            value = getattr(candidate.descriptor, field)
            if owners[value] > 1:
                others = [
                    c.source
                    for c in candidates
                    if c is not candidate and c.descriptor and getattr(c.descriptor, field) == value
                ]
                candidates[index] = candidate.with_finding(
                    Finding(
                        f"BACKEND-DUPLICATE-{field.upper()}",
                        f"The backend {field} {value!r} is used more than once.",
                        evidence=f"{candidate.source}; also {', '.join(others)}",
                        fix="Uninstall all but one of these packages.",
                    )
                )
    return candidates


def _check_environment(candidate: Candidate, version: str | None) -> Candidate:
    descriptor = candidate.descriptor
    if descriptor is None:
        return candidate
    if version is None:
        return candidate.with_finding(
            Finding(
                "EXECUTORCH-MISSING",
                f"Backend {descriptor.name} cannot be used: ExecuTorch is not installed.",
                fix="pip install 'executorch>=1.4,<1.6'",
            )
        )
    if not descriptor.supports(version):
        candidate = candidate.with_finding(unsupported(descriptor, version))
    missing = [name for name in descriptor.requires if not _importable(name)]
    if missing:
        packages = " ".join(name.partition(".")[0] for name in missing)
        candidate = candidate.with_finding(
            Finding(
                "BACKEND-REQUIREMENT-MISSING",
                f"Backend {descriptor.name} needs Python modules that are not installed: "
                f"{', '.join(missing)}.",
                evidence=f"{descriptor.package} {descriptor.version}",
                fix=stock.INSTALL_HINTS.get(descriptor.name, f"pip install {packages}"),
            )
        )
    library = descriptor.runtime_library
    if library is not None and not library.is_file():
        candidate = candidate.with_finding(
            Finding(
                "BACKEND-LIBRARY-MISSING",
                f"The runtime library of backend {descriptor.name} is not there: "
                "models can be lowered for it but not run.",
                evidence=str(library),
                fix=f"Reinstall {descriptor.package}.",
                severity=Severity.WARNING,
            )
        )
    return candidate


def unsupported(descriptor: BackendDescriptor, version: str) -> Finding:
    """The finding for a backend that does not support the installed ExecuTorch."""
    return Finding(
        "BACKEND-VERSION-UNSUPPORTED",
        f"Backend {descriptor.name} does not support ExecuTorch {version}.",
        evidence=f"{descriptor.package} {descriptor.version} supports {descriptor.executorch}",
        fix=f"pip install 'executorch{descriptor.executorch}', or a {descriptor.package} "
        f"made for {version}.",
    )


def _importable(name: str) -> bool:
    try:
        return util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
