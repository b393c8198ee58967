"""Equal programs have equal fingerprints in every process; any change that matters shows."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import mlp_model
import pytest
import torch
from executorch_backend_kit.compare.fingerprint import fingerprint
from harness import HERE

pytestmark = pytest.mark.filterwarnings("ignore")  # torch warns a lot


class Net(torch.nn.Module):
    def __init__(self, scale: float = 1.0, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.layer = torch.nn.Linear(4, 4)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layer(x)) * self.scale


def of(net: torch.nn.Module, *inputs: torch.Tensor, **options: Any) -> str:
    return fingerprint(torch.export.export(net, inputs or (torch.ones(2, 4),), **options))


def test_the_same_program_has_the_same_fingerprint() -> None:
    assert of(Net()) == of(Net())


@pytest.mark.parametrize(
    ("net", "inputs", "options"),
    [
        (Net(scale=2.0), (), {}),
        (Net(seed=1), (), {}),
        (Net(), (torch.ones(3, 4),), {}),
        (Net().half(), (torch.ones(2, 4).half(),), {}),
        (Net(), (), {"dynamic_shapes": ({0: torch.export.Dim("batch", max=8)},)}),
    ],
)
def test_a_change_shows(net: Any, inputs: Any, options: Any) -> None:
    assert of(net, *inputs, **options) != of(Net())


def test_the_range_of_a_dynamic_size_shows() -> None:
    def bounded(limit: int) -> str:
        return of(Net(), dynamic_shapes=({0: torch.export.Dim("batch", max=limit)},))

    assert bounded(8) == bounded(8)
    assert bounded(8) != bounded(16)


def test_one_bit_of_a_weight_shows() -> None:
    net = Net()
    before = of(net)
    with torch.no_grad():
        net.layer.weight[0, 0] += 1e-7
    assert of(net) != before


def test_it_is_the_same_in_another_process() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "import mlp_model, torch\n"
        "from executorch_backend_kit.compare.fingerprint import fingerprint\n"
        "inputs = mlp_model.example_inputs()[0]\n"
        "print(fingerprint(torch.export.export(mlp_model.model(), inputs)))"
    )
    run = [sys.executable, "-W", "ignore", "-c", code]
    other = subprocess.run(run, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == of(mlp_model.model(), *mlp_model.example_inputs()[0])
