"""Reshape where two output dims follow dynamic inputs."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> Any:
        b, t, _ = x.shape
        return torch.relu(self.a(x).reshape(b, t, 2, 4))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(2, 6, 8),)


def dynamic_shapes() -> Any:
    return ({0: torch.export.Dim("b", min=1, max=8), 1: torch.export.Dim("t", min=2, max=16)},)
