"""Exports the program that the consumer tests run: (x + y) * y - x over two test backends.

The addition goes to SumBackend, the multiplication to ProductBackend, the subtraction stays on the
CPU. The file is kept: it is made again only when this script or ExecuTorch changes.

    export_model.py DIRECTORY      writes DIRECTORY/sum_product.pte
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
import tempfile
from pathlib import Path
from typing import Any

BLOBS = {"SumBackend": b"SUM1", "ProductBackend": b"PRD1"}


def export() -> bytes:
    import torch
    from executorch.exir import to_edge_transform_and_lower
    from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
    from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
    from executorch.exir.dialects._ops import ops

    class SumBackend(BackendDetails):
        @staticmethod
        def preprocess(edge_program: Any, compile_specs: Any) -> Any:
            return PreprocessResult(processed_bytes=BLOBS["SumBackend"])

    class ProductBackend(BackendDetails):
        @staticmethod
        def preprocess(edge_program: Any, compile_specs: Any) -> Any:
            return PreprocessResult(processed_bytes=BLOBS["ProductBackend"])

    class OneOperator(Partitioner):
        def __init__(self, backend: type[BackendDetails], operator: Any) -> None:
            super().__init__()
            self.operator = operator
            self.delegation_spec = DelegationSpec(backend.__name__, [])

        def partition(self, exported_program: Any) -> Any:
            tags: dict[str, DelegationSpec] = {}
            for node in exported_program.graph.nodes:
                if node.op == "call_function" and node.target == self.operator:
                    tag = f"{self.delegation_spec.backend_id}_{len(tags)}"
                    node.meta["delegation_tag"] = tag
                    tags[tag] = self.delegation_spec
            return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)

    class SumProduct(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (x + y) * y - x

    arguments = (torch.full((2, 3), 2.0), torch.full((2, 3), 3.0))
    program = to_edge_transform_and_lower(
        torch.export.export(SumProduct(), arguments, strict=True),
        partitioner=[
            OneOperator(SumBackend, ops.edge.aten.add.Tensor),
            OneOperator(ProductBackend, ops.edge.aten.mul.Tensor),
        ],
    ).to_executorch()
    ids = [delegate.id for delegate in program.executorch_program.execution_plan[0].delegates]
    if sorted(ids) != sorted(BLOBS):
        raise SystemExit(f"the model was delegated to {ids}, not to {sorted(BLOBS)}")
    return bytes(program.buffer)


def write_whole(path: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)


def main(folder: Path) -> None:
    model = folder / "sum_product.pte"
    made_from = folder / "sum_product.key"
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    key = f"{importlib.metadata.version('executorch')} {digest}"
    if model.is_file() and made_from.is_file() and made_from.read_text() == key:
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(model, export())
    write_whole(made_from, key.encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
