"""What the host reports, as immutable data in the fields of host.hpp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from executorch_backend_kit.report.finding import Finding, Severity


class Origin(str, Enum):
    """Where a candidate came from."""

    EXPLICIT = "explicit"  # named by the application
    ENVIRONMENT = "environment"  # ETBK_PLUGINS or ETBK_ADD_PLUGINS
    MANIFEST = "manifest"  # in a manifest directory
    INSTALLED = "installed"  # an entry point of an installed package
    LINKED = "linked"  # linked into the program


class Outcome(str, Enum):
    """What became of a candidate."""

    CANDIDATE = "candidate"  # seen by discovery, nothing of it was run
    REGISTERED = "registered"
    ALREADY_REGISTERED = "already_registered"
    REFUSED = "refused"
    DISABLED = "disabled"


@dataclass(frozen=True)
class BlobFormats:
    """What a registered backend says of the blobs it takes."""

    id: str
    oldest: int  # formats it reads
    newest: int  # 0: it names no limit
    judges: bool  # it also looks at each blob itself

    def to_json(self) -> dict[str, Any]:
        """One element of `blob_formats`."""
        return dict(vars(self))


@dataclass(frozen=True)
class Plugin:
    """A candidate plugin and its fate."""

    name: str
    path: str  # of the library
    manifest: str  # path of the manifest that named it; may be empty
    origin: Origin
    outcome: Outcome
    vendor: str
    version: str
    abi_major: int
    abi_minor: int  # the plugin was compiled with
    abi_minor_needed: int  # of the host
    backends: tuple[str, ...]  # ids
    findings: tuple[Finding, ...]
    blob_formats: tuple[BlobFormats, ...] = ()  # of the backends that were registered

    @property
    def usable(self) -> bool:
        """True if its backends are registered and no finding is an error."""
        registered = self.outcome in (Outcome.REGISTERED, Outcome.ALREADY_REGISTERED)
        return registered and not any(f.severity is Severity.ERROR for f in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The plugin in the fields of `etbk.plugins/1`."""
        return {
            "name": self.name,
            "path": self.path,
            "manifest": self.manifest,
            "origin": self.origin.value,
            "outcome": self.outcome.value,
            "vendor": self.vendor,
            "version": self.version,
            "abi_major": self.abi_major,
            "abi_minor": self.abi_minor,
            "abi_minor_needed": self.abi_minor_needed,
            "backends": list(self.backends),
            "blob_formats": [formats.to_json() for formats in self.blob_formats],
            "findings": [finding.to_json() for finding in self.findings],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Plugin:
        """The inverse of `to_json`."""
        return Plugin(
            name=data["name"],
            path=data["path"],
            manifest=data["manifest"],
            origin=Origin(data["origin"]),
            outcome=Outcome(data["outcome"]),
            vendor=data["vendor"],
            version=data["version"],
            abi_major=data["abi_major"],
            abi_minor=data["abi_minor"],
            abi_minor_needed=data["abi_minor_needed"],
            backends=tuple(data["backends"]),
            blob_formats=tuple(BlobFormats(**row) for row in data["blob_formats"]),
            findings=tuple(Finding.from_json(finding) for finding in data["findings"]),
        )


@dataclass(frozen=True)
class ErrorRecord:
    """One failure that went through the host."""

    sequence: int  # grows by one per failure in the process
    backend: str  # id
    stage: str  # "is_available", "check_blob", "init", "execute", "option"
    status: int
    text: str


@dataclass(frozen=True)
class Counters:
    """Counters of the boundary: in steady state only `executes` grows."""

    executes: int
    descriptor_refreshes: int
    heap_allocations: int
