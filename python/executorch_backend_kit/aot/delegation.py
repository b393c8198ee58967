"""Who took what of a lowered program: delegates by backend, and the operators that are left."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Named(Protocol):
    """A backend: its name, and what the program calls it."""

    @property
    def name(self) -> str: ...

    @property
    def id(self) -> str: ...


@dataclass(frozen=True)
class DelegateUse:
    """How many delegate calls one backend has."""

    name: str
    id: str
    count: int


@dataclass(frozen=True)
class DelegationReport:
    """The delegates of a program and what runs outside them, over all its methods.

    An operator is a node that computes: the unpacking of a delegate's outputs is not counted.
    """

    delegates: tuple[DelegateUse, ...]
    nodes_delegated: int
    nodes_left: int
    operators_left: dict[str, int]  # "aten.add.Tensor" -> how often

    @property
    def node_share(self) -> float | None:
        """Delegated nodes as a share of all; None for a program without operators."""
        total = self.nodes_delegated + self.nodes_left
        return self.nodes_delegated / total if total else None

    def to_json(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "delegates": [{"name": d.name, "id": d.id, "count": d.count} for d in self.delegates],
            "nodes_delegated": self.nodes_delegated,
            "nodes_left": self.nodes_left,
            "operators_left": self.operators_left,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> DelegationReport:
        """The inverse of `to_json`."""
        return DelegationReport(
            tuple(DelegateUse(d["name"], d["id"], d["count"]) for d in data["delegates"]),
            data["nodes_delegated"],
            data["nodes_left"],
            dict(data["operators_left"]),
        )


def report(edge: Any, backends: Sequence[Named]) -> DelegationReport:
    """Reads the report from an `EdgeProgramManager`. Backends without a delegate are left out."""
    ids = Counter(delegate_ids(edge))
    delegated = sum(
        len(_operators(lowered.original_module.graph_module)) for lowered in _lowered_modules(edge)
    )
    left: Counter[str] = Counter()
    for module in _modules(edge):
        left.update(_operators(module))
    return DelegationReport(
        delegates=tuple(DelegateUse(b.name, b.id, ids[b.id]) for b in backends if b.id in ids),
        nodes_delegated=delegated,
        nodes_left=sum(left.values()),
        operators_left=dict(sorted(left.items(), key=lambda item: (-item[1], item[0]))),
    )


def delegate_ids(edge: Any) -> list[str]:
    """The backend id of every delegate, in the order of the graph."""
    return [lowered.backend_id for lowered in _lowered_modules(edge)]


def _modules(edge: Any) -> Iterator[Any]:
    """The graph modules of all methods, control-flow branches included."""
    from executorch.exir.graph_module import get_control_flow_submodules

    pending = [edge.exported_program(name).graph_module for name in sorted(edge.methods)]
    while pending:
        module = pending.pop(0)
        yield module
        pending += [submodule for _, submodule, _ in get_control_flow_submodules(module)]


def _lowered_modules(edge: Any) -> Iterator[Any]:
    from executorch.exir.lowered_backend_module import executorch_call_delegate

    for module in _modules(edge):
        for node in module.graph.nodes:
            if node.op == "call_function" and node.target is executorch_call_delegate:
                yield getattr(module, node.args[0].target)


def _operators(module: Any) -> list[str]:
    from executorch.exir.lowered_backend_module import executorch_call_delegate

    return [
        _name(node.target)
        for node in module.graph.nodes
        if node.op == "call_function"
        and node.target is not executorch_call_delegate
        and node.target is not operator.getitem
    ]


def _name(target: Any) -> str:
    """As in the edge dialect: "aten.add.Tensor"."""
    import torch

    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    return getattr(target, "__name__", str(target))
