"""Scaled dot product attention with a causal mask."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(16, 48)

    def forward(self, x: torch.Tensor) -> Any:
        q, k, v = self.q(x).reshape(1, 4, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return o.transpose(1, 2).reshape(1, 4, 16)


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 4, 16),)
