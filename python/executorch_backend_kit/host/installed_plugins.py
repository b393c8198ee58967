"""Plugin libraries that installed packages name by their entry points."""

from __future__ import annotations

from executorch_backend_kit.host.reports import Origin, Outcome, Plugin


def installed_plugins() -> tuple[tuple[str, ...], tuple[Plugin, ...]]:
    """The libraries, and for each entry point that does not work a plugin that says why."""
    from executorch_backend_kit.aot.discovery import discover

    libraries = []
    broken = []
    for candidate in discover():
        if candidate.descriptor is not None:
            if candidate.descriptor.runtime_library is not None:
                libraries.append(str(candidate.descriptor.runtime_library))
        elif candidate.findings:
            broken.append(
                Plugin(
                    name=candidate.source,
                    path="",
                    manifest="",
                    origin=Origin.INSTALLED,
                    outcome=Outcome.REFUSED,
                    vendor="",
                    version="",
                    abi_major=0,
                    abi_minor=0,
                    abi_minor_needed=0,
                    backends=(),
                    findings=candidate.findings,
                )
            )
    return tuple(libraries), tuple(broken)
