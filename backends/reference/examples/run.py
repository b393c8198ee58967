"""Lowers a small model for the device, runs it in the stock runtime and compares with eager.

python examples/run.py
"""

import tempfile
from pathlib import Path

import torch
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from executorch_backend_kit import host
from reference_executorch_backend import ReferencePartitioner


def main() -> None:
    layers = (torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4), torch.nn.Sigmoid())
    model = torch.nn.Sequential(*layers).eval()
    inputs = (torch.randn(1, 16),)

    partitioner = ReferencePartitioner()
    exported = torch.export.export(model, inputs)
    program = to_edge_transform_and_lower(exported, partitioner=[partitioner]).to_executorch()
    for refusal in partitioner.refusals:
        print(f"{refusal.op} stays outside: {refusal.message} ({refusal.code})")

    host.load_plugins()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pte"
        path.write_bytes(program.buffer)
        method = Runtime.get().load_program(path).load_method("forward")
        assert method is not None
        result = method.execute(list(inputs))[0]
    print(f"largest difference from eager: {(result - model(*inputs)).abs().max():.1e}")


if __name__ == "__main__":
    main()
