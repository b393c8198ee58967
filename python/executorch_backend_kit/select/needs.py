"""What a plan needs: packages, SDKs, variables, flags and link lines, as people type them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from executorch_backend_kit.doctor import sdk
from executorch_backend_kit.knowledge import Backend
from executorch_backend_kit.select.contender import Contender

JsonList = list[dict[str, Any]]


def prerequisites(c: Contender, chain: Sequence[Backend]) -> JsonList:
    """Everything that must be there, and whether this machine has it."""
    found: JsonList = []
    for backend in chain:
        found += [_package(backend, n) for n in backend.get("requires", default=())]
        found += [_sdk(backend, s) for s in backend.get("sdk", default=())]
        if python := backend.get("host", "python"):
            found.append(
                {
                    "backend": backend.name,
                    "kind": "python",
                    "what": f"Python {python}",
                    "needed_to": "lower",
                    "licence": "",
                    "here": None,
                    "fix": f"Make an environment with Python {python}.",
                }
            )
    if platforms := c.backend.texts("host", "lowers_on"):
        found.append(
            {
                "backend": c.name,
                "kind": "host",
                "what": f"a machine of the kind {' or '.join(platforms)}",
                "needed_to": "lower",
                "licence": "",
                "here": "any" in platforms or c.request.host in platforms,
                "fix": c.backend.get("host", "note", default=""),
            }
        )
    return found


def _package(backend: Backend, need: dict[str, Any]) -> dict[str, Any]:
    try:
        here = bool(metadata.version(need["package"]))
    except metadata.PackageNotFoundError:
        here = False
    return {
        "backend": backend.name,
        "kind": "package",
        "what": need["package"] + need["range"],
        "needed_to": need.get("needed_to", "import"),
        "licence": "",
        "here": here,
        "fix": need["install"],
    }


def _sdk(backend: Backend, fact: dict[str, Any]) -> dict[str, Any]:
    return {
        "backend": backend.name,
        "kind": "sdk",
        "what": " ".join(filter(None, (fact["name"], fact.get("range", "")))),
        "needed_to": fact.get("needed_to", "build"),
        "licence": fact.get("licence", ""),
        "here": bool(sdk.look_up(fact).to_json()["found"]),
        "fix": fact["fix"],
    }


def install(c: Contender, chain: Sequence[Backend]) -> list[str]:
    """Commands, in order."""
    lines = [f"pip install executorch=={c.request.executorch}"]
    for backend in chain:
        for need in backend.get("requires", default=()):
            platforms = need.get("platforms", ())
            if (not platforms or c.request.host in platforms) and need["install"] not in lines:
                lines.append(need["install"])
    return lines


def variables(chain: Sequence[Backend]) -> JsonList:
    """Environment variables that count, and whether they are set here."""
    found: JsonList = []
    for backend in chain:
        named = {v: f"folder of {s['name']}" for s in backend.get("sdk", default=())
                 for v in s["variables"]}  # fmt: skip
        named |= dict.fromkeys(backend.texts("runtime", "variables"), "read at run time")
        found += [
            {"backend": backend.name, "name": v, "what": what, "set": v in os.environ}
            for v, what in named.items()
        ]
    return found


def build(c: Contender, chain: Sequence[Backend]) -> dict[str, Any]:
    """How an application gets the runtime: components of the wheel, or flags of a source build."""
    platform = c.target.get("os", "platform")
    components = [
        b.get("build", "wheel_component")
        for b in chain
        if platform and platform in b.texts("build", "wheel_platforms")
    ]
    named = [b for b in chain if b.get("build") is not None]
    flags = [f"-D{flag}" for b in named for flag in b.texts("build", "flags")]
    extra = [v for b in named for v in b.texts("build", "variables")]
    targets = [t for b in named for t in b.texts("build", "targets")]
    from_wheel = len(components) == len(chain)
    return {
        "from": "wheel" if from_wheel else "source",
        "flags": flags,
        "variables": extra,
        "targets": targets,
        "components": components,
        "link": _link(named, components if from_wheel else []),
        "notes": [b.get("build", "note") for b in named if b.get("build", "note")],
    }


def _link(chain: Sequence[Backend], components: Sequence[str]) -> list[str]:
    """Lines for the application's CMakeLists.txt."""
    if components:
        return [
            "find_package(executorch CONFIG REQUIRED)",
            f"target_link_libraries(app PRIVATE executorch::runtime {' '.join(components)})",
        ]
    lines = ["target_link_libraries(app PRIVATE executorch)"]
    for backend in chain:
        targets = backend.texts("build", "targets")
        if not targets:
            continue
        lines.append(f"target_link_libraries(app PRIVATE {' '.join(targets)})")
        whole = str(backend.get("build", "whole_archive", default=""))
        if whole.startswith(("needed", "in a source build")):
            lines += [f"executorch_target_link_options_shared_lib({t})" for t in targets[:1]]
    return lines
