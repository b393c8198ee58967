"""Average pool with padding that counts the padding zeros."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(3, 4, 3)
        self.p = nn.AvgPool2d(3, 2, padding=1)

    def forward(self, x: torch.Tensor) -> Any:
        return self.p(self.a(x))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 3, 12, 12),)
