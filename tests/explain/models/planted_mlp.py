"""The same for a device that multiplies matrices: the reference backend."""

from typing import Any

import torch
from torch import nn

PLANTED = "aten.trunc.default"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 32)
        self.last = nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> Any:
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.last(torch.trunc(x))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(2, 16),)
