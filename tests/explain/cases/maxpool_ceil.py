"""Max pool in ceil mode, static shape."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(3, 4, 3)
        self.p = nn.MaxPool2d(2, 2, ceil_mode=True)

    def forward(self, x: torch.Tensor) -> Any:
        return torch.relu(self.p(self.a(x)))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 3, 9, 9),)
