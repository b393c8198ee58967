"""A MODEL file for `etbk compare`: one addition."""

import torch


class Addition(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b


def model() -> torch.nn.Module:
    return Addition().eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    return (torch.ones(2, 3), torch.ones(2, 3))
