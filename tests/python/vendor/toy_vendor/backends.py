"""The torch half of the pretended vendor."""

import os
import signal
from typing import Any

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult


class UnregisteredBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        return PreprocessResult(processed_bytes=b"toy")


class ThrowsBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        return PreprocessResult(processed_bytes=b"toy")


class CannotCompileBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        raise ValueError("the toy compiler has no rule for this")


class DiesBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        os.kill(os.getpid(), signal.SIGSEGV)
        raise AssertionError


class MisnamedBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        return PreprocessResult(processed_bytes=b"toy")


def _clash() -> type[BackendDetails]:
    class ClashBackend(BackendDetails):
        @staticmethod
        def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
            return PreprocessResult(processed_bytes=b"toy")

    return ClashBackend


clashing = (_clash(), _clash())  # ExecuTorch holds classes weakly: keep them


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
