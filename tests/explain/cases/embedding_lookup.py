"""Token ids through an embedding then a linear."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.e = nn.Embedding(32, 16)
        self.a = nn.Linear(16, 8)

    def forward(self, ids: torch.Tensor) -> Any:
        return self.a(self.e(ids))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randint(0, 32, (1, 5)),)
