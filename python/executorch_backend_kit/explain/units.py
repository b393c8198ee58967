"""Groups the nodes of an edge graph into units: an operator with what belongs to it.

To a quantized operator belong its quantize and dequantize nodes, the dequantized weight and a fused
activation; to any operator what only prepares its constants, and the unpacking of its results.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from executorch_backend_kit.explain.nodes import constants, is_operator, operator_name, values

_ACTIVATIONS = ("aten.relu.default", "aten.hardtanh.default", "aten.clamp.default")


@dataclass(frozen=True)
class Unit:
    """`main` is the operator; `nodes` are all of it, in the order of the graph."""

    main: Any
    nodes: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Named after its operator."""
        return str(self.main.name)

    @property
    def quantized(self) -> bool:
        """True if it computes on quantized values."""
        return any(is_dequantize(n) for n in self.nodes if n is not self.main)


def is_quantize(node: Any) -> bool:
    """True for a node that makes quantized values of floats."""
    name = operator_name(node.target) if node.op == "call_function" else ""
    return name.startswith(("quantized_decomposed.quantize_", "torchao.quantize_affine"))


def is_dequantize(node: Any) -> bool:
    """True for a node that makes floats of quantized values."""
    name = operator_name(node.target) if node.op == "call_function" else ""
    return name.startswith(("quantized_decomposed.dequantize_", "torchao.dequantize_affine"))


def is_choose(node: Any) -> bool:
    """True for a node that chooses a scale from values at run time."""
    name = operator_name(node.target) if node.op == "call_function" else ""
    return "choose_qparams" in name


def units_of(program: Any) -> dict[str, Unit]:
    """The unit of each node of the main graph, by the node's name."""
    fixed = constants(program)
    nodes = [n for n in program.graph.nodes if n.op == "call_function"]
    owner = _owners(nodes, fixed)
    members: dict[Any, list[Any]] = {}
    for node in nodes:
        members.setdefault(owner[node], []).append(node)
    units = {main: Unit(main, tuple(group)) for main, group in members.items()}
    return {node.name: units[owner[node]] for node in nodes}


def _owners(nodes: list[Any], fixed: Mapping[str, str]) -> dict[Any, Any]:
    """The main operator of each node; itself for most."""
    owner = {node: node for node in nodes}
    order = {node: index for index, node in enumerate(nodes)}
    prepared = _prepared(nodes, fixed)
    for node in reversed(nodes):  # users come before what they use
        users = [u for u in node.users if u in order]
        joins = (
            is_dequantize(node)
            or (is_quantize(node) and all(_is_helper(u) for u in users) and _dynamic(node))
            or is_choose(node)
            or node in prepared
            or (node.target is operator.getitem and _only_scales(node, users))
        )
        if joins and users:
            owner[node] = owner[min(users, key=lambda u: order[u])]
    for node in nodes:  # what comes after its operator
        if node.target is operator.getitem and owner[node] is node:
            owner[node] = owner.get(node.args[0], node)
        elif is_quantize(node) and owner[node] is node:
            source = node.args[0]
            if source in owner and len(source.users) == 1 and _computes_quantized(source, owner):
                owner[node] = owner[source]
        elif operator_name(node.target) in _ACTIVATIONS and owner[node] is node:
            source = node.args[0]
            only = list(node.users)
            fused = len(only) == 1 and is_quantize(only[0]) and source in owner
            if fused and len(source.users) == 1 and _computes_quantized(source, owner):
                owner[node] = owner[source]
    return owner


def _prepared(nodes: list[Any], fixed: Mapping[str, str]) -> set[Any]:
    """Nodes with one user that only rearrange constants, such as a transposed weight."""
    found: set[Any] = set()
    for node in nodes:
        sources = node.all_input_nodes
        constant = bool(sources) and all(
            s.name in fixed or s in found or (is_dequantize(s) and s.args[0].name in fixed)
            for s in sources
        )
        if constant and len(node.users) == 1 and is_operator(node) and values(node):
            found.add(node)
    return found


def _dynamic(node: Any) -> bool:
    return any(n.target is operator.getitem or is_choose(n) for n in node.all_input_nodes[1:])


def _is_helper(node: Any) -> bool:
    return is_dequantize(node) or is_quantize(node)


def _only_scales(node: Any, users: list[Any]) -> bool:
    return is_choose(node.args[0]) and all(_is_helper(u) for u in users)


def _computes_quantized(node: Any, owner: Mapping[Any, Any]) -> bool:
    """True if the operator reads dequantized values, directly or as the fused activation."""
    main = owner[node]
    return any(is_dequantize(n) for n in main.all_input_nodes)
