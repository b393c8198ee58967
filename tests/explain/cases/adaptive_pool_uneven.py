"""Adaptive average pool to a size that does not divide the input."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(3, 4, 3)
        self.p = nn.AdaptiveAvgPool2d(3)

    def forward(self, x: torch.Tensor) -> Any:
        return self.p(self.a(x))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 3, 10, 10),)
