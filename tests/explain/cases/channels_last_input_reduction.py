"""Channels-last input into conv, sigmoid and a spatial mean."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(5, 11, 3, padding=1)

    def forward(self, x: torch.Tensor) -> Any:
        return torch.sigmoid(self.conv(x)).mean(dim=(2, 3))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(2, 5, 13, 7).to(memory_format=torch.channels_last),)
