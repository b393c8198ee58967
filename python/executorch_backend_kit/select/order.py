"""Rules that put one backend before another, and the policies: which rules, in which order.

A rule gives a contender a place, lower is earlier, with a sentence and the evidence for it. What a
rule cannot tell apart gets the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from executorch_backend_kit.select.contender import Contender

MOST = 0.5  # the share of nodes from which on a backend takes most of a model
_UNITS = {"npu": 0, "gpu": 1, "dsp": 1}
_UNIT_NAMES = {"npu": "NPU", "gpu": "GPU", "dsp": "DSP", "cpu": "CPU", "mcu": "microcontroller"}
_SERVES = ("any CPU", "one kind of unit", "one chip")
_BITS = {"float32": 32, "bfloat16": 32, "float16": 16, "int8": 8}


@dataclass(frozen=True)
class Place:
    """Where a rule puts a contender, and why."""

    rank: float
    says: str
    evidence: str


@dataclass(frozen=True)
class OrderRule:
    """A rule by its name; `place` gets all contenders, since some places are relative."""

    name: str
    place: Callable[[Contender, Sequence[Contender]], Place]


def _required(c: Contender, _: Sequence[Contender]) -> Place:
    wanted = c.request.require
    if wanted is None:
        return Place(0, "none is required", "--require was not given")
    yes = wanted in (c.name, c.backend.id)
    return Place(not yes, "it is required" if yes else "it is not the required one", "--require")


def _measured(c: Contender, others: Sequence[Contender]) -> Place:
    results = c.measured.results
    here = [results[o.name] for o in others if o.name in results]
    mine = results.get(c.name)
    if not here:
        return Place(0, "no latency was recorded on the target", "no --results for this target")
    if mine is None:
        return Place(1, "no latency was recorded for it", "others were measured on the target")
    where = f"recorded on the target, {mine.where} {mine.date}".strip()
    if mine.low <= min(other.high for other in here):
        return Place(0, "nothing measured was faster", where)
    return Place(1, f"measured slower: {mine.low:.3g} to {mine.high:.3g} times the baseline", where)


def _covers(c: Contender, others: Sequence[Contender]) -> Place:
    coverage = c.measured.coverage
    if c.is_portable and any(o.name in coverage for o in others):
        return Place(1, "it takes what others leave", "definition")
    if c.name not in coverage:
        return Place(0, "how much of the model it takes was not measured", "none")
    share = coverage[c.name]
    how = "its own partitioner, run on this model"
    if share >= MOST:
        return Place(0, f"it takes {share:.0%} of the nodes", how)
    return Place(1, f"it takes only {share:.0%} of the nodes", how)


def _delegate_first(c: Contender, _: Sequence[Contender]) -> Place:
    if c.is_portable:
        return Place(1, "the last resort: reference kernels", c.known())
    return Place(0, "it has kernels of its own for the device", c.noted())


def _made_for(c: Contender, _: Sequence[Contender]) -> Place:
    if c.request.kind == "any":
        return Place(0, "no kind of model was named", "--kind was not given")
    if c.request.kind in c.backend.texts("made_for"):
        return Place(0, f"made for models of the kind {c.request.kind}", c.known())
    return Place(1, f"not made for the kind {c.request.kind} above others", c.known())


def _every_device(c: Contender, _: Sequence[Contender]) -> Place:
    if c.entry.get("on_some"):
        return Place(1, f"not on every such device: {c.entry.get('note', '')}", c.noted())
    return Place(0, "on every such device", c.noted())


def _mature_here(c: Contender, _: Sequence[Contender]) -> Place:
    maturity = c.entry.get("maturity")
    if maturity:
        return Place(1, f"{maturity} on this kind of device", c.noted())
    return Place(0, "nothing known speaks against it on this kind of device", c.noted())


def _unit(c: Contender, _: Sequence[Contender]) -> Place:
    name = _UNIT_NAMES.get(c.unit, c.unit or "some unit")
    return Place(
        _UNITS.get(c.unit, 2),
        f"runs on the {name}",
        "inferred: an accelerator is made for it; no number stands behind this",
    )


def _status(c: Contender, _: Sequence[Contender]) -> Place:
    status = c.backend.get("status")
    return Place(status != "supported", f"{status} by its makers", c.known())


def _serves_most(c: Contender, _: Sequence[Contender]) -> Place:
    serves = c.backend.get("serves", default=_SERVES[-1])
    return Place(_SERVES.index(serves), f"a program of it serves {serves}", c.known())


def _program_bytes(c: Contender, others: Sequence[Contender]) -> Place:
    size = c.measured.size
    if not any(o.name in size for o in others):
        return Place(0, "the size of its program was not measured", "none")
    if c.name not in size:
        return Place(float("inf"), "the size of its program was not measured", "none")
    return Place(size[c.name], f"its program has {size[c.name]} bytes", "lowered here")


def _weight_bits(c: Contender, _: Sequence[Contender]) -> Place:
    recipe = c.request.quantize
    if c.request.quantized:
        bits = 4 if recipe == "int4" else 8
    else:
        bits = _BITS[c.backend.get("dtypes", "computes", default="float32")]
        if recipe is None:
            offered = c.backend.get("quantization", "weight_bits", default=())
            bits = min([bits, *offered])
    return Place(
        bits, f"stores weights in {bits} bit{'s' * (bits > 1)} or more", c.known("quantization")
    )


def _computes_float32(c: Contender, _: Sequence[Contender]) -> Place:
    computes = c.backend.get("dtypes", "computes", default="float32")
    if c.quantization_required:
        computes = "int8"
    return Place(computes != "float32", f"computes float32 models in {computes}", c.known("dtypes"))


def _needs_least(c: Contender, _: Sequence[Contender]) -> Place:
    known = c.known()
    if sdks := [s["name"] for s in c.backend.get("sdk", default=())]:
        return Place(2, f"needs {', '.join(sdks)}", known)
    if packages := [r["package"] for r in c.backend.get("requires", default=())]:
        return Place(1, f"needs the packages {', '.join(packages)}", known)
    return Place(0, "comes with ExecuTorch", known)


_REQUIRED = OrderRule("required", _required)
_MEASURED = OrderRule("measured", _measured)
_COVERS = OrderRule("covers", _covers)
_DELEGATE_FIRST = OrderRule("delegate-first", _delegate_first)
_MADE_FOR = OrderRule("made-for", _made_for)
_EVERY_DEVICE = OrderRule("every-device", _every_device)
_MATURE_HERE = OrderRule("mature-here", _mature_here)
_UNIT = OrderRule("unit", _unit)
_STATUS = OrderRule("status", _status)
_SERVES_MOST = OrderRule("serves-most", _serves_most)
_PROGRAM_BYTES = OrderRule("program-bytes", _program_bytes)
_WEIGHT_BITS = OrderRule("weight-bits", _weight_bits)
_COMPUTES_FLOAT32 = OrderRule("computes-float32", _computes_float32)
_NEEDS_LEAST = OrderRule("needs-least", _needs_least)

_FIRST = (_REQUIRED, _COVERS, _DELEGATE_FIRST)
_HERE = (_EVERY_DEVICE, _MATURE_HERE)
_FAST = (_REQUIRED, _MEASURED, _COVERS, _DELEGATE_FIRST, _MADE_FOR, *_HERE, _UNIT)

# None is the order when no policy was named: fast, then what is easiest to have. A wish for latency
# alone is no reason to prefer what is easy, so there a tie stays a tie.
POLICIES: dict[str | None, tuple[OrderRule, ...]] = {
    None: (*_FAST, _STATUS, _NEEDS_LEAST),
    "latency": _FAST,
    "size": (*_FIRST, *_HERE, _PROGRAM_BYTES, _WEIGHT_BITS, _STATUS, _NEEDS_LEAST),
    "portability": (*_FIRST, *_HERE, _SERVES_MOST, _STATUS, _NEEDS_LEAST),
    "quality": (*_FIRST, *_HERE, _COMPUTES_FLOAT32, _STATUS, _NEEDS_LEAST),
}
