"""Which nodes the device can run, and for the others, why not.

The partitioner and the compiler ask the same function, so that nothing is claimed which cannot be
compiled.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from . import blob
from .sizes import is_tensor, sizes_of


class Refusal(NamedTuple):
    """Why a node stays outside."""

    node: str
    op: str
    code: str
    message: str
    hint: str


def operator(node: Node) -> str:
    """The name as in the edge dialect, "aten.add.Tensor", also for an operator before it."""
    is_aten = isinstance(node.target, torch._ops.OpOverload)
    return str(node.target if is_aten else getattr(node.target, "__name__", node.target))


def argument(node: Node, index: int, name: str, default: Any = None) -> Any:
    """An argument that may be given by position, by name or not at all."""
    return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)


def refuse(node: Node, code: str, message: str, hint: str) -> Refusal:
    return Refusal(node.name, operator(node), f"REFERENCE-{code}", message, hint)


def supports(node: Node, is_edge: bool = True) -> Refusal | None:
    """None if the device can run the node, otherwise the reason. Before the edge dialect a tensor
    that is computed may still be a view; its copy there is laid out in order."""
    if operator(node) not in OPERATORS:
        hint = "name another backend after this one: it takes what is left"
        return refuse(node, "OP", f"the device has no {operator(node)}", hint)
    for tensor in filter(is_tensor, (*node.all_input_nodes, node)):
        value = tensor.meta["val"]
        if value.dtype != torch.float32:
            message = f"{tensor.name} is {value.dtype}, the device has torch.float32"
            return refuse(node, "DTYPE", message, "convert the tensor before this node")
        if value.dim() > blob.MAX_RANK:
            message = f"{tensor.name} has {value.dim()} dimensions, more than {blob.MAX_RANK}"
            return refuse(node, "RANK", message, "merge dimensions with reshape")
        if sizes_of(tensor) is None:
            message = f"a size in {tuple(value.shape)} of {tensor.name} is 0 or no product"
            return refuse(node, "SIZE", message, "avoid empty tensors and sums of dynamic sizes")
        if (is_edge or tensor.op == "placeholder") and not _is_contiguous(value):
            message = f"{tensor.name} is not laid out in the order of its dimensions"
            return refuse(node, "LAYOUT", message, "call .contiguous() before this node")
    problem = OPERATORS[operator(node)](node)
    return refuse(node, "ARGUMENT", problem, "write it in the form named here") if problem else None


def _is_contiguous(value: torch.Tensor) -> bool:
    expected: Any = 1
    for size, stride in zip(reversed(value.shape), reversed(value.stride()), strict=True):
        if not (statically_known_true(size == 1) or statically_known_true(stride == expected)):
            return False
        expected = expected * size
    return True


# Each check of an operator gives a problem in words, or an empty text.


def _anything(_: Node) -> str:
    return ""


def _matmul(node: Node) -> str:
    ranks = [argument.meta["val"].dim() for argument in node.all_input_nodes[:2]]
    return "" if min(ranks) >= 2 else "it multiplies a vector"


def _linear(node: Node) -> str:
    bias = argument(node, 2, "bias")
    if isinstance(bias, Node) and bias.meta["val"].dim() != 1:
        return "its bias is not a vector"
    return _matmul(node)


def _addmm(node: Node) -> str:
    if any(node.kwargs.get(factor, 1) != 1 for factor in ("alpha", "beta")):
        return "alpha and beta must be 1"
    bias, columns = node.all_input_nodes[0].meta["val"].shape, node.meta["val"].shape[1]
    fits = len(bias) == 1 and statically_known_true(bias[0] == columns)
    return "" if fits else "its bias is not one value for each column"


def _mul(node: Node) -> str:
    other = node.args[1]
    is_known = isinstance(other, int | float) or (isinstance(other, Node) and is_tensor(other))
    return "" if is_known else "its second operand is neither a tensor nor a fixed number"


def _add(node: Node) -> str:
    alpha = argument(node, 2, "alpha", 1)
    return _mul(node) if alpha == 1 else f"alpha is {alpha} and must be 1"


def _softmax(node: Node) -> str:
    return "" if node.meta["val"].dim() else "it is taken of a number"


def _attention(node: Node) -> str:
    flags = (argument(node, 4, "dropout_p"), argument(node, 5, "is_causal"))
    if any(flags) or node.kwargs.get("enable_gqa"):
        return "dropout_p, is_causal and enable_gqa must be off: give the mask as a tensor"
    is_known = isinstance(node.args[0].meta["val"].shape[-1], int)
    return "" if is_known else "the size of a head is dynamic"


ATTENTION = "aten.scaled_dot_product_attention.default"
EXPAND = "aten.expand_copy.default"
PERMUTE = "aten.permute_copy.default"
ALIASES = (  # these only rename memory on the device
    "aten.view_copy.default",
    "aten.unsqueeze_copy.default",
    "aten.squeeze_copy.dims",
    "dim_order_ops._clone_dim_order.default",
    "dim_order_ops._to_dim_order_copy.default",
)
MOVES = (*ALIASES, EXPAND, PERMUTE)
OPERATORS: dict[str, Callable[[Node], str]] = {
    "aten.linear.default": _linear,
    "aten.addmm.default": _addmm,
    "aten.mm.default": _anything,
    "aten.bmm.default": _anything,
    "aten.matmul.default": _matmul,
    "aten.add.Tensor": _add,
    "aten.add.Scalar": _add,
    "aten.mul.Tensor": _mul,
    "aten.mul.Scalar": _mul,
    "aten.relu.default": _anything,
    "aten._softmax.default": _softmax,
    ATTENTION: _attention,
    **dict.fromkeys(MOVES, _anything),
}
