"""Backends whose plugins fail, described as a vendor describes his: for `etbk compare`.

Copied beside plugins named lib<name>.so; the entry points are written by the test.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

# Name of the descriptor and its id. The class with that name is made when something is lowered.
BACKENDS = {
    "fails_init": "FailsInitBackend",
    "fails_execute": "FailsExecuteBackend",
    "unavailable": "UnavailableBackend",
    "missing": "MissingBackend",
    "damaged": "DamagedBackend",
    "misnamed": "MisnamedBackend",
}


def _partitioner(backend: str) -> Any:
    from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
    from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
    from executorch.exir.dialects._ops import ops

    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        return PreprocessResult(processed_bytes=b"FAULTY blob")

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
    """The descriptor of one of BACKENDS."""
    from executorch_backend_kit.aot import BackendDescriptor

    return BackendDescriptor(
        name=name,
        id=BACKENDS[name],
        package="faulty-executorch-backends",
        version="1.0.0",
        executorch=">=1.4,<1.6",
        partitioner=partial(_partitioner, BACKENDS[name]),
        runtime_library=Path(__file__).parent / f"lib{name}.so",
        fallback=(),
    )


fails_init = partial(describe, "fails_init")
fails_execute = partial(describe, "fails_execute")
unavailable = partial(describe, "unavailable")
missing = partial(describe, "missing")
damaged = partial(describe, "damaged")
misnamed = partial(describe, "misnamed")
