"""Channels-last input straight into an undelegated reduction."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return x.mean(dim=(2, 3), keepdim=False)


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 4, 6, 6).to(memory_format=torch.channels_last),)
