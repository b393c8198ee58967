"""Backends that take additions and whose plugins are not as they should be, as vendors describe
theirs. A test copies this file beside plugins named lib<name>.so and writes the entry points.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

IDS = {
    "bad": "BadBackend",
    "missing": "MissingBackend",
    "damaged": "DamagedBackend",
    "newer": "NewerBackend",
    "misnamed": "MisnamedBackend",
}


def partitioner(backend: str) -> Any:
    """A partitioner that takes every addition for the backend with this id."""
    from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
    from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
    from executorch.exir.dialects._ops import ops

    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        return PreprocessResult(processed_bytes=b"a blob")

    # ExecuTorch finds the class by its name among the direct subclasses.
    globals()[backend] = type(backend, (BackendDetails,), {"preprocess": staticmethod(preprocess)})

    class TakesAdditions(Partitioner):
        def partition(self, exported_program: Any) -> PartitionResult:
            tags = {}
            for node in exported_program.graph.nodes:
                if node.target is ops.edge.aten.add.Tensor:
                    node.meta["delegation_tag"] = f"faulty_{node.name}"
                    tags[f"faulty_{node.name}"] = DelegationSpec(backend, [])
            return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)

    return TakesAdditions()


def describe(name: str) -> Any:
    """The descriptor of one of the backends."""
    from executorch_backend_kit.aot import BackendDescriptor

    return BackendDescriptor(
        name=name,
        id=IDS[name],
        package="faulty-executorch-backends",
        version="1.0.0",
        executorch=">=1.4,<1.6",
        partitioner=partial(partitioner, IDS[name]),
        runtime_library=Path(__file__).parent / f"lib{name}.so",
        fallback=(),
    )


missing = partial(describe, "missing")
damaged = partial(describe, "damaged")
newer = partial(describe, "newer")
misnamed = partial(describe, "misnamed")
