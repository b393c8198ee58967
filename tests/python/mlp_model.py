"""A tiny MODEL: two layers and an addition, so that every toy backend finds something."""

import torch


class Mlp(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x))) + 0.5


def model() -> torch.nn.Module:
    return Mlp().eval()


def example_inputs() -> list[tuple[torch.Tensor, ...]]:
    torch.manual_seed(1)
    return [(torch.randn(2, 8),), (torch.randn(2, 8),)]


def describe(outputs: list[list[torch.Tensor]]) -> dict[str, str]:
    return {"first output": f"{outputs[0][0][0, 0]:.3f}", "sets": str(len(outputs))}
