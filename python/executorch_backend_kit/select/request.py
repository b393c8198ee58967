"""What a person asks: for which device, which model, and what matters."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from executorch_backend_kit.select.errors import SelectionError

POLICIES = ("latency", "size", "portability", "quality")
QUANTIZATIONS = ("none", "int8", "int8-dynamic", "int4")
DTYPES = ("float32", "float16", "bfloat16", "float64")
FEATURES = ("dynamic-shapes", "control-flow")
KINDS = ("any", "llm")


@dataclass(frozen=True)
class Request:
    """A question to `choose`.

    target:     name or alias of a device
    host:       the machine that lowers, as a platform: linux-x86-64
    executorch: the release to plan for
    policy:     what matters; None for the default order
    require:    a backend without which there is no plan
    quantize:   a recipe, "none", or None if it is left open
    dtype:      what the model computes in
    needs:      features of the model: dynamic-shapes, control-flow
    kind:       llm, or any
    os_version: the oldest release of the device's system that must run it
    vendor_sdk: False if no SDK under a vendor's licence may be needed to lower
    settings:   settings of the target that are otherwise, by name
    """

    target: str
    host: str
    executorch: str
    policy: str | None = None
    require: str | None = None
    quantize: str | None = None
    dtype: str = "float32"
    needs: tuple[str, ...] = ()
    kind: str = "any"
    os_version: str | None = None
    vendor_sdk: bool = True
    settings: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _one_of("--policy", self.policy, POLICIES)
        _one_of("--quantize", self.quantize, QUANTIZATIONS)
        _one_of("--dtype", self.dtype, DTYPES)
        _one_of("--kind", self.kind, KINDS)
        for feature in self.needs:
            _one_of("--needs", feature, FEATURES)
        if self.os_version is not None and not any(c.isdigit() for c in self.os_version):
            raise _invalid("--os-version", self.os_version, "Give a number such as 16 or 17.2.")
        if self.quantize not in (None, "none") and self.dtype == "float64":
            raise SelectionError(
                "SELECT-CONTRADICTION",
                f"--quantize {self.quantize} and --dtype float64 contradict each other.",
                evidence="quantizers start from float32 models",
                fix="Leave one of them out.",
            )
        if self.policy == "quality" and self.quantize == "int4":
            raise SelectionError(
                "SELECT-CONTRADICTION",
                "--policy quality asks for numbers closest to the model's own, --quantize int4 "
                "for the coarsest.",
                fix="Leave one of them out; --policy size goes with int4.",
            )

    @property
    def quantized(self) -> bool:
        """True if a quantization was asked for."""
        return self.quantize not in (None, "none")


def _one_of(option: str, value: str | None, known: Collection[str]) -> None:
    if value is not None and value not in known:
        raise _invalid(option, value, f"Use one of: {', '.join(known)}.")


def _invalid(option: str, value: str, fix: str) -> SelectionError:
    return SelectionError(
        "SELECT-OPTION-INVALID", f"{option} cannot be {value!r}.", evidence=option, fix=fix
    )
