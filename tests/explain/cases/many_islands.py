"""Alternates a taken op with one that is never taken: one partition for each island."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ls = nn.ModuleList(nn.Linear(8, 8) for _ in range(8))

    def forward(self, x: torch.Tensor) -> Any:
        for layer in self.ls:
            x = torch.erf(layer(x))
        return x


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(2, 8),)
