"""The cures: when each applies, in which words, and how it is tried on the whole model."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from executorch_backend_kit.explain.cures import expressions, rewrites

Node = dict[str, Any]


@dataclass(frozen=True)
class Cure:
    """Something to do, for these nodes.

    kind:    "option", "import", "source", "quantize" or "order"
    text:    what to do, in one sentence
    nodes:   names of the operators that it is for
    diff:    of the author's expression, where that is known
    rewrite: the same on the exported program
    options: the same as options of backends
    action:  the same as one of the trial's own actions: "freeze", "import", "fixed sizes",
             "float32", "order"
    detail:  what the action needs to know
    """

    name: str
    kind: str
    text: str
    nodes: tuple[str, ...] = ()
    diff: str | None = None
    rewrite: Callable[[Any, Any], bool] | None = None
    options: dict[str, dict[str, Any]] | None = None
    action: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class _Rewrite:
    """An equivalent form of one operator."""

    name: str
    ops: tuple[str, ...]
    argument: str
    text: str
    rewrite: Callable[[Any, Any], bool]
    source: Callable[[ast.AST], bool] | None


REWRITES = (
    _Rewrite(
        "keep-dims",
        ("aten.mean.dim",),
        "keepdim",
        "Keep the reduced dimensions and flatten behind the mean.",
        rewrites.keep_dims,
        expressions.keep_dims,
    ),
    _Rewrite(
        "spell-out-alpha",
        ("aten.add.Tensor", "aten.sub.Tensor"),
        "alpha",
        "Multiply by the factor before adding, instead of alpha=.",
        rewrites.spell_out_alpha,
        expressions.spell_out_alpha,
    ),
    _Rewrite(
        "multiply-powers",
        ("aten.pow.Tensor_Scalar",),
        "exponent",
        "Write the power as a product.",
        rewrites.multiply_powers,
        expressions.multiply_powers,
    ),
    _Rewrite(
        "reshape-unsqueezed",
        ("aten.unsqueeze_copy.default",),
        "dim",
        "Reshape instead of unsqueeze.",
        rewrites.reshape_unsqueezed,
        expressions.reshape_unsqueezed,
    ),
    _Rewrite(
        "pad-first",
        ("aten.avg_pool2d.default",),
        "",
        "Pad with zeros before the average pool, and let it pad nothing.",
        rewrites.pad_first,
        None,
    ),
)


def cures(document: dict[str, Any], backends: Sequence[str]) -> list[Cure]:
    """The cures that a document calls for."""
    outside = [n for n in document["nodes"] if not n["delegated"] and n["reason"]]
    return [
        *_options(outside),
        *_order(document, backends),
        *_stages(document),
        *_rewrites(outside),
        *_quantization(outside, document),
        *_dtypes(outside),
        *_shapes(outside),
    ]


def _options(outside: Sequence[Node]) -> Iterator[Cure]:
    settings: dict[tuple[str, str, str], list[str]] = {}
    for node in outside:
        for reason in node["reasons"]:
            experiment = reason["experiment"]
            if experiment["property"] == "option":
                key = (reason["backend"], experiment["argument"], experiment["value"])
                settings.setdefault(key, []).append(node["name"])
    for (backend, option, value), names in settings.items():
        yield Cure(
            f"option-{option}",
            "option",
            f"Set the option {option} of {backend}: --option {backend}.{option}={value.lower()}",
            tuple(names),
            options={backend: {option: value}},
        )


def _order(document: dict[str, Any], backends: Sequence[str]) -> Iterator[Cure]:
    if any(f["code"] == "EXPLAIN-BACKEND-ORDER" for f in document["findings"]):
        other = [*backends[1:], backends[0]]
        yield Cure(
            "order",
            "order",
            f"Name the more special backend first: --backends {'+'.join(other)}",
            action="order",
            detail="+".join(other),
        )


def _stages(document: dict[str, Any]) -> Iterator[Cure]:
    for stage in document["stages"]:
        error = stage["error"] or ""
        if stage["stage"] != "to_executorch":
            continue
        if "Missing out variants" in error and "quantized_decomposed" in error:
            yield Cure(
                "import-quantized-kernels",
                "import",
                "import executorch.kernels.quantized before to_executorch(): it registers the "
                "out variants of quantize and dequantize.",
                action="import",
                detail="executorch.kernels.quantized",
            )
        if "requires grad" in error:
            yield Cure(
                "freeze-parameters",
                "source",
                "Freeze the parameters before export: model.requires_grad_(False)",
                action="freeze",
            )


def _rewrites(outside: Sequence[Node]) -> Iterator[Cure]:
    for one in REWRITES:
        nodes = [n for n in outside if n["op"] in one.ops and _asks_for(n, one.argument)]
        if not nodes:
            continue
        expression = next(
            (s["expression"] for n in nodes if (s := n["source"]) and s["expression"]), None
        )
        shown = expressions.diff(expression, one.source) if expression and one.source else None
        names = tuple(n["name"] for n in nodes)
        yield Cure(one.name, "source", one.text, names, diff=shown, rewrite=one.rewrite)


def _asks_for(node: Node, argument: str) -> bool:
    """True if an experiment showed that this argument decides, or the words name an attribute."""
    experiment = node["reason"]["experiment"]
    if experiment["property"] is not None:
        return experiment["property"] == "attribute" and argument in ("", experiment["argument"])
    return bool(node["reason"]["code"] == "FALLBACK-ATTRIBUTE")


def _quantization(outside: Sequence[Node], document: dict[str, Any]) -> Iterator[Cure]:
    scale = [n for n in outside if n["reason"]["experiment"]["argument"] == "the weight's scale"]
    if scale:
        yield Cure(
            "per-channel-weights",
            "quantize",
            "Quantize weights per channel: get_symmetric_quantization_config(is_per_channel=True)",
            tuple(n["name"] for n in scale),
        )
    plain = [
        n
        for n in outside
        if n["reason"]["experiment"]["property"] == "quantization"
        and n["reason"]["experiment"]["value"] == "quantized to int8"
    ]
    if plain:
        names = ", ".join(b["name"] for b in document["backends"])
        yield Cure(
            "quantize-first",
            "quantize",
            f"Quantize the model with the quantizer of {names} before lowering: these operators "
            "are taken as int8, not as floats.",
            tuple(n["name"] for n in plain),
        )


def _dtypes(outside: Sequence[Node]) -> Iterator[Cure]:
    double = [
        n
        for n in outside
        if n["reason"]["experiment"]["property"] == "dtype" and n["precision"] == "float64"
    ]
    if double:
        yield Cure(
            "float32",
            "source",
            "Calculate in float32: model.float(), and inputs in float32.",
            tuple(n["name"] for n in double),
            action="float32",
        )


def _shapes(outside: Sequence[Node]) -> Iterator[Cure]:
    dynamic = [n for n in outside if n["reason"]["experiment"]["property"] == "dynamic shape"]
    if dynamic:
        yield Cure(
            "fixed-sizes",
            "source",
            "Export with fixed sizes, one program for each size that is needed: leave out "
            "dynamic_shapes.",
            tuple(n["name"] for n in dynamic),
            action="fixed sizes",
        )
