"""Convolution over a volume: rank above the two the delegate takes."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv3d(2, 4, 3, padding=1)
        self.b = nn.Linear(6, 5)

    def forward(self, x: torch.Tensor) -> Any:
        return self.b(torch.relu(self.a(x)))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 2, 4, 6, 6),)
