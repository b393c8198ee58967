"""A configuration: the backends to lower for, in order of priority, as people write it.

`reference+xnnpack` names two backends, by name or by runtime id; `portable` names none: everything
runs on ExecuTorch's own kernels.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from executorch_backend_kit.aot.descriptor import BackendDescriptor, OptionValue
from executorch_backend_kit.aot.discovery import Candidate
from executorch_backend_kit.aot.errors import ConfigurationError, UnusableBackendError

PORTABLE = "portable"


@dataclass(frozen=True)
class Configuration:
    """Backends in order of priority, with the options of each by its name."""

    name: str
    backends: tuple[BackendDescriptor, ...]
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)


def parse(
    text: str,
    candidates: Sequence[Candidate],
    options: Mapping[str, Mapping[str, str]] | None = None,
) -> Configuration:
    """The configuration that `text` means; raises ConfigurationError."""
    parts = [part.strip() for part in text.split("+")]
    if not all(parts):
        raise ConfigurationError(
            "CONFIGURATION-INVALID",
            f"Configuration {text!r} has an empty part.",
            fix="Join backend names with single + signs: reference+xnnpack.",
        )
    if PORTABLE in parts:
        if len(parts) > 1:
            raise ConfigurationError(
                "CONFIGURATION-INVALID",
                f"Configuration {text!r} joins 'portable', which means no backend, to another.",
                fix="Remove 'portable': what no backend takes runs on portable kernels anyway.",
            )
        return Configuration(PORTABLE, ())
    backends = tuple(resolve(part, candidates) for part in parts)
    check_distinct(backends)
    given = options or {}
    checked = {b.name: b.parse_options(given[b.name]) for b in backends if b.name in given}
    return Configuration("+".join(b.name for b in backends), backends, checked)


def resolve(name: str, candidates: Iterable[Candidate]) -> BackendDescriptor:
    """The usable backend with this name or id; raises ConfigurationError saying why not."""
    described = [c for c in candidates if c.descriptor is not None]
    matches = [
        c for c in described if c.descriptor and name in (c.descriptor.name, c.descriptor.id)
    ]
    for candidate in matches:
        if candidate.usable and candidate.descriptor:
            return candidate.descriptor
    for candidate in matches:
        if candidate.reason:
            raise UnusableBackendError.of(candidate.reason)
    known = [PORTABLE, *(n for c in described if c.descriptor for n in (c.descriptor.name,))]
    ids = [c.descriptor.id for c in described if c.descriptor]
    near = difflib.get_close_matches(name, known + ids, n=1)
    raise ConfigurationError(
        "BACKEND-UNKNOWN",
        f"There is no backend named {name!r} here."
        + (f" Did you mean {near[0]!r}?" if near else ""),
        evidence="known: " + ", ".join(known),
        fix="Install the package that provides it, or see `etbk plugins`.",
    )


def check_distinct(backends: Sequence[BackendDescriptor]) -> None:
    """Raises ConfigurationError if two backends of one configuration share a name or an id."""
    for index, second in enumerate(backends):
        for first in backends[:index]:
            if first.id == second.id or first.name == second.name:
                what = "name" if first.name == second.name else "id"
                raise ConfigurationError(
                    f"BACKEND-DUPLICATE-{what.upper()}",
                    f"Two backends of one configuration have the {what} {getattr(first, what)!r}.",
                    evidence=f"{first.name} ({first.package} {first.version}) and "
                    f"{second.name} ({second.package} {second.version})",
                    fix="Name each backend once.",
                )


def every_usable(candidates: Iterable[Candidate]) -> list[str]:
    """What to compare when nobody chose: no backend, then each usable one with its fallback."""
    usable = {c.descriptor.name: c.descriptor for c in candidates if c.usable and c.descriptor}
    names = [PORTABLE]
    for descriptor in usable.values():
        behind = [n for n in descriptor.fallback if n in usable and n != descriptor.name]
        names.append("+".join([descriptor.name, *behind]))
    return names
