"""Preprocessing: a delegated graph in, the bytes that the runtime half reads out."""

import struct
from typing import Any

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.dialects._ops import ops

OPERATIONS = {ops.edge.aten.add.Tensor: 1, ops.edge.aten.mul.Tensor: 2}
BLOB_FORMAT = 1


class AcmeBackend(BackendDetails):
    """Its name is the id in the .pte file, and the runtime half registers under the same."""

    @staticmethod
    def preprocess(edge_program: Any, compile_specs: Any) -> PreprocessResult:
        specs = {spec.key: spec.value for spec in compile_specs}
        numbers: dict[Any, int] = {}
        steps, results = [], []
        for node in edge_program.graph_module.graph.nodes:
            if node.op == "call_function":
                steps.append((OPERATIONS[node.target], *(numbers[a] for a in node.args)))
            if node.op == "output":
                results = [numbers[result] for result in node.args[0]]
            else:
                numbers[node] = len(numbers)
        inputs = len(numbers) - len(steps)
        version = int.from_bytes(specs["blob_format"], "little")
        words = [version, inputs, len(steps), len(results)]
        words += [word for step in steps for word in step] + results
        return PreprocessResult(processed_bytes=struct.pack(f"<4s{len(words)}I", b"ACME", *words))
