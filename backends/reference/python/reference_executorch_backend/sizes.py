"""Sizes of tensors that may depend on symbols: a number times symbols, such as 12*s0*s1.

The device learns the symbols from its inputs, so a group of nodes can be delegated only if every
symbol in it can be read off an input.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sympy
import torch
from torch.fx import Node

from . import blob


class Size(NamedTuple):
    coefficient: int
    symbols: tuple[sympy.Symbol, ...] = ()


class Binding(NamedTuple):
    """Where a symbol is read: dimension `axis` of an input, or the int `input` itself."""

    input: int
    axis: int
    divisor: int


def size_of(dimension: int | torch.SymInt) -> Size | None:
    """The size as a product; None if it is not one (s0 + 1) or has too many symbols."""
    if isinstance(dimension, int):
        return Size(dimension)
    coefficient, product = dimension.node.expr.as_coeff_Mul()
    symbols: list[sympy.Symbol] = []
    for base, exponent in product.as_powers_dict().items():
        if not (base.is_Symbol and exponent.is_Integer and 0 < exponent <= blob.MAX_DEGREE):
            return None
        symbols += [base] * int(exponent)
    if not coefficient.is_Integer or coefficient < 1 or len(symbols) > blob.MAX_DEGREE:
        return None
    return Size(int(coefficient), tuple(sorted(symbols, key=str)))


def sizes_of(node: Node) -> tuple[Size, ...] | None:
    """The sizes of a node's tensor; None if one is not a product or 0."""
    sizes = tuple(size_of(dimension) for dimension in node.meta["val"].shape)
    return sizes if all(size and size.coefficient for size in sizes) else None  # type: ignore


def bind(inputs: Sequence[Node]) -> dict[sympy.Symbol, Binding]:
    """Where each symbol can be read, in the order of the inputs."""
    bindings: dict[sympy.Symbol, Binding] = {}
    for index, node in enumerate(inputs):
        value = node.meta["val"]
        axes = list(enumerate(value.shape)) if is_tensor(node) else [(blob.NONE, value)]
        for axis, dimension in axes:
            size = size_of(dimension)
            if size and len(size.symbols) == 1:
                bindings.setdefault(size.symbols[0], Binding(index, axis, size.coefficient))
    return bindings


def why_unbound(
    nodes: Iterable[Node], inputs: Sequence[Node], ranges: Mapping[sympy.Symbol, Any]
) -> str:
    """Why the sizes of `nodes` cannot be known from `inputs`; empty if they can."""
    bindings = bind(inputs)
    for node in filter(is_tensor, (*nodes, *inputs)):
        for symbol in (symbol for size in sizes_of(node) or () for symbol in size.symbols):
            if symbol not in bindings:
                return f"size {symbol} of {node.name} is no size of an input of its group"
            if symbol not in ranges or not ranges[symbol].upper.is_Integer:
                return f"size {symbol} of {node.name} has no upper bound"
    return "" if len(bindings) <= blob.MAX_SYMBOLS else f"it has {len(bindings)} symbolic sizes"


def is_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)
