"""Speech front end: two 1-d convolutions with a batch norm."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv1d(4, 8, 5, stride=2)
        self.bn = nn.BatchNorm1d(8)
        self.b = nn.Conv1d(8, 8, 3)

    def forward(self, x: torch.Tensor) -> Any:
        return self.b(torch.relu(self.bn(self.a(x))))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 4, 40),)
