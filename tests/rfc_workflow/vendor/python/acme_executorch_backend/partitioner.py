"""Chooses the nodes that the device takes."""

from typing import Any

import torch
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .backend import BLOB_FORMAT, OPERATIONS, AcmeBackend


class _Supported(OperatorSupportBase):
    def is_node_supported(self, submodules: Any, node: torch.fx.Node) -> bool:
        if node.target not in OPERATIONS or node.kwargs:
            return False
        values = [getattr(a, "meta", {}).get("val") for a in node.args] + [node.meta["val"]]
        return all(
            isinstance(value, torch.Tensor)
            and value.dtype == torch.float32
            and value.shape == node.meta["val"].shape
            for value in values
        )


class AcmePartitioner(Partitioner):
    """Delegates additions and multiplications of float32 tensors of one shape."""

    def __init__(self, blob_format: int = BLOB_FORMAT) -> None:
        super().__init__()
        specs = [CompileSpec("blob_format", blob_format.to_bytes(4, "little"))]
        self._delegation = DelegationSpec(AcmeBackend.__name__, specs)

    def partition(self, exported_program: Any) -> PartitionResult:
        partitions = CapabilityBasedPartitioner(
            exported_program.graph_module, _Supported(), allows_single_node_partition=True
        ).propose_partitions()
        tags = {}
        for number, partition in enumerate(partitions):
            tag = f"acme_{number}"
            tags[tag] = self._delegation
            for node in partition.nodes:
                node.meta["delegation_tag"] = tag
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)
