"""A small convolutional network with random weights: a MODEL file for `etbk compare`."""

import torch
from torch import nn


class Block(nn.Module):
    """A residual block of a depthwise and a pointwise convolution."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.layers(x))


def model() -> nn.Module:
    """Stem, four blocks, classifier. The weights are the same in every process."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        *(Block(32) for _ in range(4)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    ).eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    """One image."""
    torch.manual_seed(1)
    return (torch.randn(1, 3, 64, 64),)
