"""Reads the nodes of an edge graph: what an operator is called, what it takes and makes."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any


def operator_name(target: Any) -> str:
    """As in the edge dialect: "aten.add.Tensor"."""
    import torch

    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    return str(getattr(target, "__name__", target))


def overload(target: Any) -> Any:
    """The torch operator behind an edge operator; None if there is none."""
    import torch

    found = getattr(target, "_op", target)
    return found if isinstance(found, torch._ops.OpOverload) else None


def is_operator(node: Any) -> bool:
    """True if the node computes something; unpacking a tuple and calling a delegate do not."""
    from executorch.exir.lowered_backend_module import executorch_call_delegate

    return node.op == "call_function" and node.target not in (
        operator.getitem,
        executorch_call_delegate,
    )


def tensors(value: Any) -> list[Any]:
    """The tensors in a node's value."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors(v)]
    return []


def values(node: Any) -> list[Any]:
    """The tensors that a node makes."""
    return tensors(node.meta.get("val"))


def is_scalar(node: Any) -> bool:
    """True for arithmetic on sizes and numbers, and for putting a number into a tensor: what the
    edge dialect leaves as it is."""
    from executorch.exir.dialects.edge._ops import EdgeOpOverload

    if not is_operator(node) or isinstance(node.target, EdgeOpOverload):
        return is_operator(node) and not values(node)
    return all(tensor.dim() == 0 for tensor in values(node))


def hint(size: Any) -> int:
    """A size as a number: of a dynamic one, the value of the example inputs."""
    if isinstance(size, int):
        return size
    symbolic = size.node
    known = getattr(symbolic, "hint", None)
    if known is not None:
        return int(known)
    try:
        return int(symbolic.shape_env.size_hint(symbolic.expr))
    except Exception:  # a size that depends on data has no example
        return 1


def is_dynamic(tensor: Any) -> bool:
    """True if a size is not a fixed number."""
    return any(not isinstance(size, int) for size in tensor.shape)


def depends_on_data(node: Any) -> bool:
    """True if a size of what the node makes is known only when it has run."""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    return any(bool(free_unbacked_symbols(t)) for t in values(node))


def numel(tensor: Any) -> int:
    """Elements of a tensor, at the sizes of the example inputs."""
    return math.prod(hint(size) for size in tensor.shape)


def size_in_bytes(tensor: Any) -> int:
    """Bytes of a tensor, at the sizes of the example inputs."""
    return numel(tensor) * int(tensor.dtype.itemsize)


def bytes_of(node: Any) -> int:
    """Bytes of all tensors that a node makes."""
    return sum(size_in_bytes(t) for t in values(node))


def dtype_name(tensor: Any) -> str:
    """float32, without the torch in front."""
    return str(tensor.dtype).removeprefix("torch.")


def constants(program: Any) -> dict[str, str]:
    """The name behind each placeholder that is a parameter, a buffer that nobody changes, or a
    constant."""
    signature = program.graph_signature
    changed = set(signature.buffers_to_mutate.values())
    named = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    return {placeholder: name for placeholder, name in named.items() if name not in changed}


def graphs(graph_module: Any) -> Iterator[tuple[str, Any]]:
    """The main graph, then those of control-flow branches, however deep, with the prefix that tells
    their nodes apart: none for the main graph."""
    from executorch.exir.graph_module import get_control_flow_submodules

    pending = [("", graph_module)]
    while pending:
        prefix, module = pending.pop(0)
        yield prefix, module
        pending += [
            (f"{prefix}{name}.", submodule)
            for name, submodule, _ in get_control_flow_submodules(module)
        ]
