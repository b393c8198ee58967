"""Backends that installed packages describe, as candidates for the targets that they name."""

from __future__ import annotations

from dataclasses import replace

from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.aot.discovery import discover
from executorch_backend_kit.knowledge import Backend, Knowledge, Target

_SNIPPET = """
import torch
from executorch_backend_kit.aot import lower

exported = torch.export.export(model, inputs)
edge = lower(exported, ["{name}"]).edge
program = edge.to_executorch()
"""


def with_described(knowledge: Knowledge) -> Knowledge:
    """What is known, and what installed packages say of backends that nothing is known of."""
    backends = dict(knowledge.backends)
    targets = dict(knowledge.targets)
    for candidate in discover():
        descriptor = candidate.descriptor
        if candidate.source == "stock" or not candidate.usable or descriptor is None:
            continue
        if descriptor.name not in backends:
            backends[descriptor.name] = _backend(descriptor, targets)
        for name, target in targets.items():
            if _is_named(target, descriptor) and not _lists(target, descriptor.name):
                targets[name] = _with(target, descriptor)
    return Knowledge(backends, targets, knowledge.findings)


def _backend(descriptor: BackendDescriptor, targets: dict[str, Target]) -> Backend:
    package = f"{descriptor.package} {descriptor.version}"
    evidence = {"level": "none", "release": "", "date": "", "where": f"descriptor of {package}"}
    systems = [t.get("os", "name") for t in targets.values() if _is_named(t, descriptor)] or [
        "unknown"
    ]
    data = {
        "schema": "etbk.backend/1",
        "name": descriptor.name,
        "title": f"{descriptor.name} of {package}",
        "id": descriptor.id,
        "kind": "external",
        "status": "experimental",
        "executorch": descriptor.executorch,
        "summary": f"described by the installed package {package}",
        "serves": "one kind of unit",
        "evidence": evidence,
        "dtypes": {"inputs": ["float32"], "computes": "float32"},
        "shapes": {"dynamic": "unknown"},
        "quantization": {"required": "no", "schemes": []},
        "requires": [],
        "devices": [
            {"os": name, "hardware": f"what {package} says"} for name in dict.fromkeys(systems)
        ],
        "export": {"snippet": _SNIPPET.format(name=descriptor.name), "evidence": evidence},
        "fallback": {"chain": list(descriptor.fallback), "reasons": [], "see": []},
    }
    return Backend(descriptor.name, str(data["title"]), (), f"descriptor of {package}", data)


def _is_named(target: Target, descriptor: BackendDescriptor) -> bool:
    words = {target.name, *target.aliases, target.get("os", "name")}
    return bool(words & set(descriptor.targets))


def _lists(target: Target, name: str) -> bool:
    return any(b["name"] == name for b in target.get("backends", default=()))


def _with(target: Target, descriptor: BackendDescriptor) -> Target:
    """A new backend comes last: nothing is known of it but what its package says."""
    entry = {
        "name": descriptor.name,
        "unit": "any",
        "maturity": "unverified",
        "note": f"described by the installed package {descriptor.package} {descriptor.version}",
    }
    backends = [*target.get("backends", default=()), entry]
    return replace(target, data={**target.data, "backends": backends})
