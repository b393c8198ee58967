"""Exports the small programs beside this file: make_programs.py [FOLDER]. Needs torch.

Each is there for what only it has: constants, delegates in a segment and inline, weights in a
.ptd, branches, a loop, dynamic sizes, an index into a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from functorch.experimental.control_flow import map as loop


class Cnn(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.pool = torch.nn.MaxPool2d(2)
        self.linear = torch.nn.Linear(4 * 4 * 4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.pool(torch.relu(self.convolution(x)))
        return torch.softmax(self.linear(y.flatten(1)), -1)


class Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.l = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.l(x) * 2


class Table(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(10, 4)
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, index: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rows = self.norm(self.table(index))
        best, _ = torch.topk(rows, 2)
        pooled = torch.nn.functional.avg_pool1d(rows.unsqueeze(0), 2)
        return rows[:, 1:3].to(torch.int32) // 2, best, pooled


class Of(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def branch(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, [x])


def repeat(rows: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return loop(lambda row, y: row + y, rows, y)


class Dynamic(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = torch.split(x, 2, 1)
        return torch.cat([a, b, a], 1).view(x.shape[0], -1) + x.shape[0]


class Cache(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(4, 3))

    def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        self.kept.index_put_((index,), x)
        return self.kept.sum(0)


def main(folder: Path) -> None:
    """Exports all of them."""
    torch.manual_seed(0)

    def export(
        name: str,
        model: torch.nn.Module,
        inputs: tuple[torch.Tensor, ...],
        *,
        delegate: bool = False,
        dynamic_shapes: Any = None,
        **config: Any,
    ) -> None:
        exported = torch.export.export(
            model.eval(), inputs, dynamic_shapes=dynamic_shapes, strict=True
        )
        lowered = to_edge_transform_and_lower(
            exported, partitioner=[XnnpackPartitioner()] if delegate else None
        )
        program = lowered.to_executorch(ExecutorchBackendConfig(**config))
        (folder / f"{name}.pte").write_bytes(program.buffer)
        if config.get("external_constants"):
            program.write_tensor_data_to_file(str(folder))
            (folder / "_default_external_constant.ptd").rename(folder / f"{name}.ptd")

    image = (torch.randn(1, 3, 8, 8),)
    export("cnn_portable", Cnn(), image)
    export("cnn_xnnpack", Cnn(), image, delegate=True)
    export("cnn_inline", Cnn(), image, delegate=True, extract_delegate_segments=False)
    export("lin_external", Linear(), (torch.randn(2, 4),), external_constants=True)
    export("cond", Of(branch), (torch.randn(2, 3),))
    export("map", Of(repeat), (torch.randn(4, 3), torch.ones(3)))
    rows = torch.export.Dim("rows", min=1, max=8)
    export("dyn", Dynamic(), (torch.randn(3, 4),), dynamic_shapes=({0: rows},))
    export("mutable", Cache(), (torch.randn(1, 3), torch.tensor([1])))
    export("emb", Table(), (torch.tensor([1, 2, 3]),))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
