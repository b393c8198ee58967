"""Equivalent forms of operators that a backend may take where it refuses the original.

Each works on an exported program, in the operators that torch.export leaves, and returns how many
places it changed. Numbers stay equal up to rounding.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any


def rewritten(program: Any, rewrite: Callable[[Any, Any], bool]) -> tuple[Any, int]:
    """A copy of the program with `rewrite` applied to each node, and how often it did something."""
    changed = copy.deepcopy(program)
    graph = changed.graph_module.graph
    count = 0
    for node in list(graph.nodes):
        if node.op == "call_function" and rewrite(graph, node):
            count += 1
    graph.eliminate_dead_code()
    changed.graph_module.recompile()
    return changed, count


def keep_dims(graph: Any, node: Any) -> bool:
    """A mean that drops the reduced dimensions: keep them, then reshape."""
    import torch

    if node.target is not torch.ops.aten.mean.dim or _argument(node, 2, "keepdim", False):
        return False
    sizes = _fixed_sizes(node)
    if sizes is None or _argument(node, 1, "dim", None) is None:
        return False
    source, dims = node.args[0], node.args[1]
    dtype = node.kwargs.get("dtype")
    with graph.inserting_before(node):
        kept = _call(graph, node, torch.ops.aten.mean.dim, (source, dims, True), dtype=dtype)
        new = _call(graph, node, torch.ops.aten.view.default, (kept, sizes))
    return _replace(node, new)


def spell_out_alpha(graph: Any, node: Any) -> bool:
    """An addition or subtraction with a factor: multiply first."""
    import torch

    aten = torch.ops.aten
    alpha = node.kwargs.get("alpha", 1)
    if node.target not in (aten.add.Tensor, aten.sub.Tensor) or alpha == 1:
        return False
    first, second = node.args[:2]
    if not _is_tensor(second):
        return False
    with graph.inserting_before(node):
        scaled = _call(graph, node, aten.mul.Tensor, (second, alpha))
        new = _call(graph, node, node.target, (first, scaled))
    return _replace(node, new)


def multiply_powers(graph: Any, node: Any) -> bool:
    """A small whole power: multiply."""
    import torch

    aten = torch.ops.aten
    if node.target is not aten.pow.Tensor_Scalar:
        return False
    base, power = node.args[:2]
    if power not in (3, 4, 5, 6) or not base.meta["val"].is_floating_point():
        return False
    with graph.inserting_before(node):
        square = _call(graph, node, aten.mul.Tensor, (base, base))
        new = square
        for _ in range(int(power) - 2):
            new = _call(graph, node, aten.mul.Tensor, (new, base))
    return _replace(node, new)


def reshape_unsqueezed(graph: Any, node: Any) -> bool:
    """A new dimension that is not the last: reshape."""
    import torch

    aten = torch.ops.aten
    if node.target is not aten.unsqueeze.default:
        return False
    sizes, rank = _fixed_sizes(node), node.args[0].meta["val"].dim()
    if sizes is None or node.args[1] in (-1, rank):
        return False
    with graph.inserting_before(node):
        new = _call(graph, node, aten.reshape.default, (node.args[0], sizes))
    return _replace(node, new)


def pad_first(graph: Any, node: Any) -> bool:
    """An average pool that counts its padding: pad with zeros first."""
    import torch

    aten = torch.ops.aten
    if node.target is not aten.avg_pool2d.default:
        return False
    arguments = dict(zip(("x", "kernel", "stride", "padding"), node.args, strict=False))
    padding = [int(p) for p in arguments.get("padding", (0, 0))]
    ceil = _argument(node, 4, "ceil_mode", False)
    counts = _argument(node, 5, "count_include_pad", True)
    divisor = _argument(node, 6, "divisor_override", None)
    if not any(padding) or ceil or not counts or divisor is not None:
        return False
    tall, wide = padding if len(padding) == 2 else (padding[0], padding[0])
    stride = arguments.get("stride") or arguments["kernel"]
    with graph.inserting_before(node):
        border = [wide, wide, tall, tall]
        padded = _call(graph, node, aten.constant_pad_nd.default, (arguments["x"], border, 0.0))
        pool = (padded, arguments["kernel"], stride, [0, 0], False, True)
        new = _call(graph, node, aten.avg_pool2d.default, pool)
    return _replace(node, new)


def _argument(node: Any, index: int, name: str, default: Any) -> Any:
    return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.fx.Node) and isinstance(value.meta.get("val"), torch.Tensor)


def _fixed_sizes(node: Any) -> list[int] | None:
    sizes = list(node.meta["val"].shape)
    return sizes if all(isinstance(s, int) for s in sizes) else None


def _call(graph: Any, like: Any, target: Any, args: tuple[Any, ...], **kwargs: Any) -> Any:
    """A new node with the notes of the one that it replaces, and its value computed."""
    import torch

    given = {name: value for name, value in kwargs.items() if value is not None}
    node = graph.call_function(target, args, given)
    node.meta = {k: v for k, v in like.meta.items() if k not in ("val", "tensor_meta")}
    with like.meta["val"].fake_mode:
        known = torch.fx.node.map_arg((args, given), lambda n: n.meta["val"])
        node.meta["val"] = target(*known[0], **known[1])
    return node


def _replace(node: Any, new: Any) -> bool:
    """Puts the new node where the old one was read."""
    node.replace_all_uses_with(new)
    name = node.name
    node.graph.erase_node(node)
    new.name = name  # the signature names outputs after their nodes
    return True
