"""Chooses what the device runs, and keeps the reason for everything else."""

from collections.abc import Callable

import torch
from executorch.exir.backend.canonical_partitioners.pattern_op_partitioner import (
    generate_partitions_from_list_of_nodes,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from torch.export import ExportedProgram
from torch.fx import Node

from .backend import WEIGHTS, ReferenceBackend
from .compiler import constant_names
from .sizes import why_unbound
from .supports import ATTENTION, MOVES, Refusal, operator, refuse, supports
from .versions import require_supported_executorch


class ReferencePartitioner(Partitioner):
    """Delegates what the device supports. After `partition`, `refusals` says why the other
    operators stayed outside.

    weights: "blob" stores them with the compiled graph, "named" once per content in the file.
    whole_attention: takes scaled_dot_product_attention as one operator. Only for a partitioner that
        is alone in its list: ExecuTorch decomposes for each in turn, and a kept attention may then
        stop the export.
    """

    def __init__(self, weights: str = "blob", whole_attention: bool = False) -> None:
        super().__init__()
        require_supported_executorch()
        self._whole_attention = whole_attention
        specs = [CompileSpec(WEIGHTS, weights.encode())]
        self._delegation = DelegationSpec(ReferenceBackend.__name__, specs)
        self.refusals: tuple[Refusal, ...] = ()

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        """The operators that `partition` will surely take: one that is kept and then refused would
        stop the export. (A filter by node, the second result, breaks views in 1.5.)"""

        def fits(node: Node) -> bool:
            unbound = why_unbound([node], node.all_input_nodes, ep.range_constraints)
            return not (supports(node, is_edge=False) or unbound)

        nodes = [node for node in ep.graph.nodes if operator(node) == ATTENTION]
        whole = [torch.ops.aten.scaled_dot_product_attention.default]
        return whole if self._whole_attention and all(map(fits, nodes)) else [], None

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        graph = exported_program.graph
        nodes = [node for node in graph.nodes if node.op == "call_function" and _computes(node)]
        refused = {node: reason for node in nodes if (reason := supports(node))}
        constants = constant_names(exported_program)
        tags: dict[str, DelegationSpec] = {}
        for group in _groups(exported_program, [node for node in nodes if node not in refused]):
            inputs = dict.fromkeys(i for n in group for i in n.all_input_nodes if i not in group)
            variable = [node for node in inputs if node.name not in constants]
            unbound = why_unbound(group, variable, exported_program.range_constraints)
            if unbound:
                hint = "give it an upper bound, and its group an input of this size"
                refused.update({node: refuse(node, "SIZE", unbound, hint) for node in group})
            elif all(operator(node) in MOVES for node in group):
                problem, hint = "its group only moves data", "none is needed"
                refused.update({node: refuse(node, "NO-WORK", problem, hint) for node in group})
            else:
                tag = f"{ReferenceBackend.__name__}_{len(tags)}"
                tags[tag] = self._delegation
                for node in group:
                    node.meta["delegation_tag"] = tag
        for node in graph.nodes:
            # A constant that something else reads too stays an input of the delegate.
            users = {user.meta.get("delegation_tag") for user in node.users}
            if node.name in constants and len(users) == 1 and users <= tags.keys():
                node.meta["delegation_tag"] = users.pop()
        self.refusals = tuple(refused[node] for node in nodes if node in refused)
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)


def _computes(node: Node) -> bool:
    """False for arithmetic on sizes and for what only connects operators or delegates."""
    plumbing = ("getitem", "executorch_call_delegate")
    is_operator = not any(name in operator(node) for name in plumbing)
    return is_operator and isinstance(node.meta["val"], torch.Tensor | tuple | list)


def _groups(exported_program: ExportedProgram, nodes: list[Node]) -> list[list[Node]]:
    """Groups without a path that leaves and comes back, each in the order of the graph."""
    if not nodes:
        return []
    partitions = generate_partitions_from_list_of_nodes(
        exported_program.graph_module, pattern_list=[[node] for node in nodes]
    )
    groups = [[node for node in nodes if node in partition.nodes] for partition in partitions]
    return sorted(groups, key=lambda group: nodes.index(group[0]))
