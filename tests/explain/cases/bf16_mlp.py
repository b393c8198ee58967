"""bfloat16 MLP: off unless the partitioner is asked for it."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(16, 32)
        self.b = nn.Linear(32, 8)

    def forward(self, x: torch.Tensor) -> Any:
        return self.b(torch.relu(self.a(x)))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval().to(torch.bfloat16)


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(2, 16, dtype=torch.bfloat16),)
