"""Mutable cache buffer written by position; parameters still ask for gradients."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.register_buffer("cache", torch.zeros(1, 16, 8))

    def forward(self, x: torch.Tensor, pos: torch.Tensor) -> Any:
        self.cache[:, pos] = self.a(x)
        return torch.matmul(self.a(x), self.cache.transpose(1, 2))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 1, 8), torch.tensor([3]))
