"""How many arithmetic operations an edge operator takes, by formula; a multiply-add counts as two.

An operator without a formula is said to be unknown, never taken for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from executorch_backend_kit.explain.nodes import hint, numel, operator_name, overload, values

# Operations for each element of what an operator makes, where that is more than one.
_PER_ELEMENT = {
    "aten._softmax.default": 5,
    "aten._log_softmax.default": 6,
    "aten.native_layer_norm.default": 8,
    "aten.native_group_norm.default": 8,
    "aten._native_batch_norm_legit_no_training.default": 4,
    "aten.native_batch_norm.default": 4,
    "aten.batch_norm.default": 4,
    "aten.layer_norm.default": 8,
    "aten.rms_norm.default": 6,
    "aten.upsample_bilinear2d.vec": 11,
    "aten.upsample_bilinear2d.default": 11,
    "aten.grid_sampler_2d.default": 20,
    "aten.cumsum.default": 1,
}
# Operators that move, make or look up data and calculate nothing.
_MOVES = (
    "_clone_dim_order",
    "_to_copy",
    "_to_dim_order_copy",
    "alias_copy",
    "arange",
    "as_strided_copy",
    "cat",
    "clone",
    "constant_pad_nd",
    "copy",
    "detach_copy",
    "diagonal_copy",
    "embedding",
    "empty",
    "expand_copy",
    "flip",
    "full",
    "full_like",
    "gather",
    "index",
    "index_put",
    "index_select",
    "lift_fresh_copy",
    "masked_fill",
    "ones",
    "permute_copy",
    "pixel_shuffle",
    "pixel_unshuffle",
    "reflection_pad1d",
    "reflection_pad2d",
    "repeat",
    "replication_pad2d",
    "roll",
    "scalar_tensor",
    "scatter",
    "select_copy",
    "select_scatter",
    "slice_copy",
    "slice_scatter",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "stack",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unsqueeze_copy",
    "upsample_nearest2d",
    "view_copy",
    "where",
    "zeros",
)


def arithmetic(node: Any) -> int | None:
    """Operations of one node; None if there is no formula for its operator."""
    name = operator_name(node.target)
    if not values(node):
        return 0  # a number: counted apart
    formula = _FORMULAE.get(name)
    if formula is not None:
        return formula(node)
    if name in _PER_ELEMENT:
        return _PER_ELEMENT[name] * numel(values(node)[0])
    bare = name.split(".")[1] if name.count(".") >= 2 else name
    if bare in _MOVES:
        return 0
    if name.startswith(("quantized_decomposed.", "torchao.")):
        made = sum(numel(t) for t in values(node))
        read = sum(numel(t) for n in node.all_input_nodes[:1] for t in values(n))
        return 2 * max(made, read)
    return _by_tag(node)


def _by_tag(node: Any) -> int | None:
    """What torch itself says of an operator: one operation for each element made or read."""
    import torch

    found = overload(node.target)
    if found is None:
        return None
    tags = set(found.tags)
    if torch.Tag.pointwise in tags:
        return sum(numel(t) for t in values(node))
    if torch.Tag.reduction in tags:
        return sum(numel(t) for n in node.all_input_nodes[:1] for t in values(n))
    if torch.Tag.view_copy in tags:
        return 0
    return None


def _tensor(node: Any, index: int) -> Any:
    return values(node.args[index])[0]


def _matrix(first: int) -> Callable[[Any], int]:
    """(..., k) times (k, n): two operations for each k of each element."""

    def formula(node: Any) -> int:
        inner = hint(_tensor(node, first).shape[-1])
        bias = numel(values(node)[0]) if len(node.all_input_nodes) > 2 else 0
        return 2 * inner * numel(values(node)[0]) + bias

    return formula


def _convolution(node: Any) -> int:
    weight = _tensor(node, 1)
    transposed = len(node.args) > 6 and bool(node.args[6])
    name = operator_name(node.target)
    transposed = transposed or "transpose" in name
    per_output = math.prod(hint(s) for s in weight.shape[1:])
    if transposed:  # each input element meets every weight of its channel
        work = 2 * numel(_tensor(node, 0)) * per_output
    else:
        work = 2 * numel(values(node)[0]) * per_output
    has_bias = len(node.args) > 2 and node.args[2] is not None
    return work + (numel(values(node)[0]) if has_bias else 0)


def _pool(node: Any) -> int:
    kernel = node.args[1]
    sizes = [kernel, kernel] if isinstance(kernel, int) else list(kernel)
    return numel(values(node)[0]) * math.prod(hint(s) for s in sizes)


def _adaptive_pool(node: Any) -> int:
    return numel(_tensor(node, 0))


def _attention(node: Any) -> int:
    query, key = _tensor(node, 0), _tensor(node, 1)
    scores = numel(query) // hint(query.shape[-1]) * hint(key.shape[-2])
    return scores * (4 * hint(query.shape[-1]) + 5)


def _sort(node: Any) -> int:
    count = numel(_tensor(node, 0))
    return count * max(1, math.ceil(math.log2(max(count, 2))))


_FORMULAE: dict[str, Callable[[Any], int]] = {
    "aten.mm.default": _matrix(0),
    "aten.bmm.default": _matrix(0),
    "aten.addmm.default": _matrix(1),
    "aten.baddbmm.default": _matrix(1),
    "aten.linear.default": _matrix(0),
    "aten.matmul.default": _matrix(0),
    "aten.convolution.default": _convolution,
    "aten.conv1d.default": _convolution,
    "aten.conv2d.default": _convolution,
    "aten.conv3d.default": _convolution,
    "aten.conv2d.padding": _convolution,
    "aten.conv_transpose2d.input": _convolution,
    "aten.avg_pool1d.default": _pool,
    "aten.avg_pool2d.default": _pool,
    "aten.max_pool2d.default": _pool,
    "aten.max_pool2d_with_indices.default": _pool,
    "aten._adaptive_avg_pool2d.default": _adaptive_pool,
    "aten._adaptive_avg_pool3d.default": _adaptive_pool,
    "aten.adaptive_avg_pool1d.default": _adaptive_pool,
    "aten.adaptive_avg_pool2d.default": _adaptive_pool,
    "aten.adaptive_avg_pool3d.default": _adaptive_pool,
    "aten.scaled_dot_product_attention.default": _attention,
    "aten.topk.default": _sort,
    "aten.sort.default": _sort,
    "aten.argmax.default": _adaptive_pool,
    "aten.argmin.default": _adaptive_pool,
}
