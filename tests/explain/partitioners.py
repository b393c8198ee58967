"""Partitioners as they should not be, each of a backend of its own."""

from __future__ import annotations

import time
from typing import Any

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.dialects._ops import ops
from executorch_backend_kit.aot import BackendDescriptor

ADD = ops.edge.aten.add.Tensor


class PlainBackend(BackendDetails):
    """Compiles anything to nothing."""

    @staticmethod
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        return PreprocessResult(processed_bytes=b"")


def tagged(program: Any, groups: list[list[Any]]) -> PartitionResult:
    tags = {}
    for number, group in enumerate(groups):
        for node in group:
            node.meta["delegation_tag"] = f"group{number}"
        tags[f"group{number}"] = DelegationSpec(PlainBackend.__name__, [])
    return PartitionResult(tagged_exported_program=program, partition_tags=tags)


def operators(program: Any) -> list[Any]:
    return [n for n in program.graph.nodes if n.op == "call_function"]


class Throws(Partitioner):
    def partition(self, exported_program: Any) -> PartitionResult:
        raise KeyError("no such operator table")


class Loops(Partitioner):
    def partition(self, exported_program: Any) -> PartitionResult:
        while True:
            try:
                time.sleep(0.01)
            except Exception:  # noqa: PERF203 - holds on to everything that it can
                continue


class Changes(Partitioner):
    def partition(self, exported_program: Any) -> PartitionResult:
        node = next(n for n in exported_program.graph.nodes if n.target is ADD)
        node.target = ops.edge.aten.mul.Tensor
        return tagged(exported_program, [])


class Cycles(Partitioner):
    """Everything but the operator in the middle, as one delegate."""

    def partition(self, exported_program: Any) -> PartitionResult:
        nodes = operators(exported_program)
        return tagged(exported_program, [[n for n in nodes if "tanh" not in n.name]])


class Silent(Partitioner):
    """Takes float32 additions of at most two dimensions, and says nothing about the others."""

    def partition(self, exported_program: Any) -> PartitionResult:
        import torch

        fits = [
            [n]
            for n in operators(exported_program)
            if n.target is ADD and n.meta["val"].dtype == torch.float32 and n.meta["val"].dim() <= 2
        ]
        return tagged(exported_program, fits)


class FailsOnEmpty(Silent):
    """Throws at what it has not seen before: only while it is experimented with."""

    def partition(self, exported_program: Any) -> PartitionResult:
        if not any("relu" in n.name for n in operators(exported_program)):
            raise RuntimeError("there must be a relu")
        return super().partition(exported_program)


def describe(kind: type[Partitioner]) -> BackendDescriptor:
    """The backend with such a partitioner."""
    return BackendDescriptor(
        name=kind.__name__.lower(),
        id=PlainBackend.__name__,
        package="faulty-vendor",
        version="1.0",
        executorch=">=1.4",
        partitioner=kind,
    )
