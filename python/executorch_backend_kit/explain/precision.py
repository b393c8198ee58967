"""In which numbers a unit calculates."""

from __future__ import annotations

from typing import Any

from executorch_backend_kit.explain.nodes import dtype_name, tensors, values
from executorch_backend_kit.explain.units import Unit, is_choose, is_dequantize, is_quantize


def precision(unit: Unit) -> str:
    """float32, int8 static, int8 dynamic, int8 weights only, or mixed dtypes joined by +."""
    dequantized = [n for n in unit.nodes if is_dequantize(n) and n is not unit.main]
    if dequantized:
        stored = sorted({dtype_name(t) for n in dequantized for t in _stored(n)})
        kind = "+".join(stored) or "quantized"
        if any(is_choose(n) for n in unit.nodes):
            return f"{kind} dynamic"
        activations = [n for n in dequantized if n.args[0].op != "placeholder"]
        fed = activations or any(is_quantize(n) for n in unit.nodes)
        return f"{kind} static" if fed else f"{kind} weights only"
    found = {dtype_name(t) for n in unit.main.all_input_nodes for t in values(n)}
    found |= {dtype_name(t) for t in values(unit.main)}
    return "+".join(sorted(found)) or "number"


def _stored(node: Any) -> list[Any]:
    return tensors(node.args[0].meta.get("val"))[:1]
