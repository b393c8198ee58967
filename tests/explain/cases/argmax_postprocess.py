"""Classifier with argmax and a top-k inside the graph."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 6)

    def forward(self, x: torch.Tensor) -> Any:
        y = self.a(x)
        v, i = torch.topk(y, 2)
        return y.argmax(-1), v, i


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(2, 8),)
