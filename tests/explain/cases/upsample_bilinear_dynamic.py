"""Bilinear upsample by a factor, dynamic height."""

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> Any:
        return torch.nn.functional.interpolate(
            self.a(x), scale_factor=2.0, mode="bilinear", align_corners=False
        )


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 3, 8, 8),)


def dynamic_shapes() -> Any:
    return ({2: torch.export.Dim("h", min=4, max=32)},)
