"""The model that backends are tried with: small, fixed, and made of what every backend takes."""

from __future__ import annotations

from typing import Any


def small_model() -> tuple[Any, tuple[Any, ...]]:
    """A convolution, an activation and a linear layer, with inputs; the same numbers each time."""
    import torch

    generator = torch.Generator().manual_seed(7)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(512, 10),
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=generator) * 0.2 - 0.1)
    model.requires_grad_(False)
    return model.eval(), (torch.rand(1, 3, 8, 8, generator=generator),)
