"""The torch half of the pretended vendor."""

import os
import signal
from typing import Any

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult


class CannotCompileBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        raise ValueError("the toy compiler has no rule for this")


class DiesBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        os.kill(os.getpid(), signal.SIGSEGV)
        raise AssertionError


def _plain(name: str) -> type[BackendDetails]:
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        return PreprocessResult(processed_bytes=b"toy")

    return type(name, (BackendDetails,), {"preprocess": staticmethod(preprocess)})


def _clash() -> type[BackendDetails]:
    class ClashBackend(BackendDetails):
        @staticmethod
        def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
            return PreprocessResult(processed_bytes=b"toy")

    return ClashBackend


# ExecuTorch holds classes weakly: keep them.
clashing = (_clash(), _clash())
plain = tuple(
    _plain(f"{name}Backend")
    for name in (
        *("Unregistered", "Throws", "Misnamed"),
        *("Adder", "Unavailable", "InitFails", "ExecuteFails", "Crashes", "Wrong"),
    )
)


class AddPartitioner(Partitioner):
    """Delegates each add by itself."""

    def __init__(self, backend: str) -> None:
        super().__init__()
        self._backend = backend

    def partition(self, exported_program: Any) -> PartitionResult:
        if self._backend == "ThrowsBackend":
            raise KeyError("no such operator table")
        target = "UnregisteredBackend" if self._backend == "MisnamedBackend" else self._backend
        tags: dict[str, DelegationSpec] = {}
        for node in exported_program.graph.nodes:
            if node.op == "call_function" and "aten.add.Tensor" in str(node.target):
                tag = f"toy_{len(tags)}"
                node.meta["delegation_tag"] = tag
                tags[tag] = DelegationSpec(target, [])
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)


def partitioner(backend: str, greedy: bool = True) -> Partitioner:
    return AddPartitioner(backend)
