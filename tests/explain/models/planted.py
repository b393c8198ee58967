"""A small CNN with an operator in the middle that no backend here has: the culprit to be found."""

from typing import Any

import torch
from torch import nn

PLANTED = "aten.trunc.default"


class Net(nn.Module):
    culprit = True

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.third = nn.Conv2d(8, 8, 3, padding=1)
        self.last = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> Any:
        x = torch.relu(self.first(x))
        x = torch.relu(self.second(x))
        if self.culprit:
            x = torch.trunc(x)
        x = torch.relu(self.third(x))
        x = torch.nn.functional.adaptive_avg_pool2d(x, 1)
        return self.last(torch.flatten(x, 1))


def model() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    return (torch.randn(1, 3, 16, 16),)
