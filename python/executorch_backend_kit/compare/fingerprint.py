"""A hash of an exported program: equal programs give equal hashes in every process.

It covers what lowering may look at: every node with its target, arguments and value, where in the
model it comes from, the signature, the ranges of dynamic sizes, and all weights. Source lines are
left out, so that editing a comment changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any


def fingerprint(program: Any) -> str:
    """The hash of a torch `ExportedProgram`, as hexadecimal text."""
    digest = hashlib.sha256()
    for line in _lines(program):
        digest.update(line.encode())
        digest.update(b"\n")
    for name, tensor in sorted({**program.state_dict, **program.constants}.items()):
        digest.update(name.encode())
        for part in _content(tensor):
            digest.update(part)
    return digest.hexdigest()


def of_values(values: Iterable[Any]) -> str:
    """The hash of tensors and other values, such as calibration data."""
    digest = hashlib.sha256()
    for value in values:
        for part in _content(value):
            digest.update(part)
    return digest.hexdigest()


def _lines(program: Any) -> Iterator[str]:
    import torch

    for path, module in program.graph_module.named_modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        yield f"module {path}"
        for node in module.graph.nodes:
            modules = [
                f"{where}:{kind}" for where, kind in node.meta.get("nn_module_stack", {}).values()
            ]
            yield f"{node.format_node()} {_value(node.meta.get('val'))} {modules}"
            if custom := node.meta.get("custom"):
                yield f"custom {custom!r}"
    yield str(program.graph_signature)
    yield from sorted(f"{symbol} {bounds}" for symbol, bounds in program.range_constraints.items())


def _value(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}{list(value.stride())}{value.device}"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(_value(v) for v in value) + ")"
    return f"{type(value).__name__} {value}"


def _content(value: Any) -> Iterator[bytes | memoryview]:
    import torch

    if not isinstance(value, torch.Tensor):
        yield repr(value).encode()
        return
    inner = getattr(value, "__tensor_flatten__", None)
    if inner is not None:  # a tensor subclass, such as a packed quantized weight
        names, context = inner()
        yield repr((type(value).__name__, names, context)).encode()
        for name in names:
            yield from _content(getattr(value, name))
        return
    yield f"{value.dtype}{list(value.shape)}{list(value.stride())}".encode()
    flat = value.detach().cpu().contiguous().reshape(-1)
    if flat.numel():
        yield memoryview(flat.view(torch.uint8).numpy())
