"""Hard constraints, in the order in which a person should hear them.

A rule returns why the backend cannot be used, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from executorch_backend_kit.select.contender import Contender

_OPEN_LICENCES = ("Apache", "BSD", "GPL", "MIT")


@dataclass(frozen=True)
class Exclusion:
    """A rule by its name."""

    name: str
    reason: Callable[[Contender], str | None]


def _not_offered(c: Contender) -> str | None:
    if c.backend.get("kind") == "example":
        return "a fixture of ExecuTorch's own tests"
    return None


def _removed(c: Contender) -> str | None:
    if not c.backend.removed_from(c.request.executorch):
        return None
    instead = ", ".join(c.backend.texts("instead"))
    return f"removed in ExecuTorch {c.backend.get('removed_in')}; instead: {instead or 'none'}"


def _release(c: Contender) -> str | None:
    release = c.request.executorch
    if c.backend.before_its_time(release):
        return f"came with ExecuTorch {c.backend.get('since')}; this is {release}"
    wanted = c.backend.get("executorch")
    if wanted and not SpecifierSet(wanted).contains(release, prereleases=True):
        return f"fits ExecuTorch {wanted} only; this is {release}"
    return None


def _no_runtime(c: Contender) -> str | None:
    if (
        c.backend.get("kind") == "delegate"
        and not c.backend.texts("build", "targets")
        and not c.backend.get("build", "wheel_component")
        and not c.backend.texts("runtime", "registered_in_wheel")
    ):
        return "no runtime that loads its programs is published"
    return None


def _os(c: Contender) -> str | None:
    if c.index is not None:
        return None
    systems = [d["os"] for d in c.backend.get("devices", default=())]
    if c.target.get("os", "name") in systems or "any" in systems:
        return None
    return f"runs on {', '.join(dict.fromkeys(systems)) or 'nothing that is known'}"


def _device(c: Contender) -> str | None:
    if c.index is not None:
        return None
    hardware = [d["hardware"] for d in c.backend.get("devices", default=())]
    return f"{c.target.title} is no device for it; it needs: {'; '.join(hardware)}"


def _os_version(c: Contender) -> str | None:
    given = c.request.os_version
    if given is None:
        return None
    for device in c.backend.get("devices", default=()):
        if device["os"] != c.target.get("os", "name"):
            continue
        for field, what in (("minimum", "it"), ("quantized_minimum", "its quantized operators")):
            wanted = device.get(field)
            if field == "quantized_minimum" and not c.request.quantized:
                continue
            if wanted and _numbers(given) < _numbers(wanted):
                verb = "needs" if what == "it" else "need"
                return f"{what} {verb} {device['os']} {wanted}; {given} must run it"
    return None


def _host(c: Contender) -> str | None:
    platforms = c.backend.texts("host", "lowers_on")
    if not platforms or "any" in platforms or c.request.host in platforms:
        return None
    return f"lowers on {', '.join(platforms)}, not on {c.request.host} (--host)"


def _vendor_sdk(c: Contender) -> str | None:
    if c.request.vendor_sdk:
        return None
    for sdk in c.backend.get("sdk", default=()):
        licence = sdk.get("licence", "an unknown licence")
        if sdk.get("needed_to") == "lower" and not licence.startswith(_OPEN_LICENCES):
            return f"lowering needs {sdk['name']} under {licence}"
    for need in c.backend.get("requires", default=()):
        if not need["install"].startswith("pip install"):
            return f"lowering needs {need['package']}, which comes from the vendor only"
    return None


def _dtype(c: Contender) -> str | None:
    dtype = c.request.dtype
    if c.quantization_required:
        if dtype == "float32":
            return None
        return f"it takes quantized models, and its quantizer starts from float32, not {dtype}"
    taken = [text.split()[0] for text in c.backend.texts("dtypes", "inputs")]
    if "all" in taken or dtype in taken:
        return None
    return f"does not take {dtype}; it takes {', '.join(c.backend.texts('dtypes', 'inputs'))}"


def _dynamic_shapes(c: Contender) -> str | None:
    if "dynamic-shapes" not in c.request.needs:
        return None
    known = c.backend.get("shapes", "dynamic", default="unknown")
    if known in ("no", "unknown"):
        return f"dynamic shapes: {known}"
    return None


def _control_flow(c: Contender) -> str | None:
    if "control-flow" not in c.request.needs:
        return None
    if c.backend.get("features", "control_flow") == "no":
        return "models with branches (torch.cond) can stop lowering"
    return None


def _quantization_required(c: Contender) -> str | None:
    if c.request.quantize == "none" and c.quantization_required:
        return "it takes quantized models only, and --quantize none was given"
    return None


def _quantization_offered(c: Contender) -> str | None:
    recipe = c.request.quantize
    if recipe is None or recipe == "none":
        return None
    recipes = [r["name"] for r in c.backend.get("quantization", "recipes", default=())]
    bits = c.backend.get("quantization", "weight_bits", default=())
    if recipe in recipes or {"int8": 8, "int4": 4}.get(recipe) in bits:
        return None
    schemes = "; ".join(c.backend.texts("quantization", "schemes")) or "none"
    return f"does not quantize to {recipe}; its schemes: {schemes}"


def _lowering_failed(c: Contender) -> str | None:
    why = c.measured.failed.get(c.name)
    return None if why is None else f"this model could not be lowered for it: {why}"


def _took_nothing(c: Contender) -> str | None:
    if not c.is_portable and c.measured.coverage.get(c.name) == 0:
        return "it takes no part of this model"
    return None


EXCLUSIONS = (
    Exclusion("not-offered", _not_offered),
    Exclusion("removed", _removed),
    Exclusion("no-runtime", _no_runtime),
    Exclusion("os", _os),
    Exclusion("device", _device),
    Exclusion("release", _release),
    Exclusion("os-version", _os_version),
    Exclusion("host", _host),
    Exclusion("vendor-sdk", _vendor_sdk),
    Exclusion("dtype", _dtype),
    Exclusion("dynamic-shapes", _dynamic_shapes),
    Exclusion("control-flow", _control_flow),
    Exclusion("quantization-required", _quantization_required),
    Exclusion("quantization-offered", _quantization_offered),
    Exclusion("lowering-failed", _lowering_failed),
    Exclusion("took-nothing", _took_nothing),
)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
