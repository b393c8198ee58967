"""Every operator, and the graphs that are made of them, against eager."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional

NAN, INFINITY = float("nan"), float("inf")


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


class Attention(nn.Module):
    """A block as in BERT: projections, attention with a mask, residual, MLP."""

    def __init__(self, width: int = 24, heads: int = 3, fused: bool = True) -> None:
        super().__init__()
        self.heads, self.fused = heads, fused
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(width, 40), nn.ReLU(), nn.Linear(40, width))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape

        def split(y: torch.Tensor) -> torch.Tensor:
            return y.view(batch, length, self.heads, -1).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        if self.fused:
            y = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            scores = q @ k.transpose(2, 3) * (width // self.heads) ** -0.5 + mask
            y = torch.softmax(scores, -1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x)


def rand(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(sum(sizes)))


MASK = torch.tensor([0.0, -INFINITY, 0.0, -1e4]).expand(1, 1, 5, 4).clone()
MASK[..., 2, :] = -INFINITY  # a row that is masked whole
CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "linear": (nn.Linear(70, 130), (rand(9, 70),)),
    "linear-3d": (nn.Linear(8, 5), (rand(2, 3, 8),)),
    "linear-no-bias": (nn.Linear(8, 5, bias=False), (rand(1, 8),)),
    "linear-of-input": (functional.linear, (rand(3, 8), rand(5, 8), rand(5))),
    "mm-of-itself": (lambda x: x @ x, (rand(6, 6),)),
    "bmm": (torch.bmm, (rand(4, 5, 6), rand(4, 6, 7))),
    "matmul-broadcast": (torch.matmul, (rand(2, 1, 5, 6), rand(3, 6, 7))),
    "add-broadcast": (torch.add, (rand(4, 1, 3), rand(5, 1))),
    "add-number": (lambda x: x + 1.0, (rand(3),)),
    "add-of-itself": (lambda x: x + x, (rand(2, 3),)),
    "mul": (torch.mul, (rand(2, 3, 4, 5, 2, 2), rand(2, 1, 4, 1, 2, 2))),
    "mul-number": (lambda x: x * 0.5, (rand(2, 3),)),
    "zero-dimensional": (lambda x, y: x * y + x, (torch.tensor(3.0), torch.tensor(4.0))),
    "relu": (torch.relu, (torch.tensor([-1.0, -0.0, 2.0, NAN, INFINITY, -INFINITY]),)),
    "softmax": (lambda x: torch.softmax(x, -1), (rand(3, 4, 5),)),
    "softmax-inner": (lambda x: torch.softmax(x, 1), (rand(3, 4, 5) * 80,)),
    "softmax-masked": (lambda x: torch.softmax(x, -1), (torch.full((2, 3), -INFINITY),)),
    "attention": (
        functional.scaled_dot_product_attention,
        (rand(2, 3, 4), rand(2, 5, 4), rand(2, 5, 6)),
    ),
    "attention-mask": (
        functional.scaled_dot_product_attention,
        (rand(2, 3, 5, 8), rand(2, 3, 4, 8), rand(2, 3, 4, 8), MASK),
    ),
    "attention-scale": (
        lambda q: functional.scaled_dot_product_attention(q, q, q, scale=0.3),
        (rand(1, 2, 4, 8),),
    ),
    "permute": (lambda x: torch.relu(x).permute(2, 0, 3, 1), (rand(2, 3, 4, 5),)),
    "expand": (lambda x: torch.relu(x).expand(2, 3, 4), (rand(3, 1),)),
    "reshape": (lambda x: (x.view(6, 4).t() + 1.0).reshape(2, 12), (rand(2, 3, 4),)),
    "several-outputs": (lambda x: (x + 1.0, (x + 1.0).view(-1), torch.relu(x)), (rand(2, 3),)),
    "mlp": (nn.Sequential(nn.Linear(6, 33), nn.ReLU(), nn.Linear(33, 2)), (rand(4, 6),)),
    "attention-block": (Attention(), (rand(2, 7, 24), rand(2, 1, 1, 7))),
    "explicit-attention-block": (Attention(fused=False), (rand(2, 7, 24), rand(2, 1, 1, 7))),
}


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str, lower: Any, check: Any) -> None:
    function, inputs = CASES[name]
    model = function if isinstance(function, nn.Module) else Function(function)
    program = lower(model, inputs)
    plan = program.executorch_program.execution_plan[0]
    assert [delegate.id for delegate in plan.delegates] == ["ReferenceBackend"]
    assert plan.operators == []  # nothing was left outside
    check(model, program, inputs)


def test_dynamic_sizes(lower: Any, check: Any) -> None:
    model = Attention()
    batch, length = Dim("batch", min=1, max=5), Dim("length", min=2, max=9)
    shapes = {"x": {0: batch, 1: length}, "mask": {0: batch, 3: length}}

    def inputs(batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        return rand(batch, length, 24), rand(batch, 1, 1, length)

    program = lower(model, inputs(3, 4), dynamic_shapes=shapes)
    assert len(program.executorch_program.execution_plan[0].delegates) == 1
    check(model, program, inputs(3, 4), inputs(1, 9), inputs(5, 2), inputs(5, 9), inputs(5, 9))


def test_weights_that_two_groups_share(lower: Any, check: Any) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(torch.sin(self.linear(x)))  # the device has no sine

    model, inputs = Tied(), (rand(3, 8),)
    program = lower(model, inputs)
    assert len(program.executorch_program.execution_plan[0].delegates) == 2
    check(model, program, inputs)


def test_state_stays_with_the_runtime(lower: Any, load: Any) -> None:
    class Sum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total.add_(x)
            return torch.relu(self.total * x)

    method = load(lower(Sum(), (torch.ones(3),)))
    results = [method.execute([torch.ones(3)])[0][0].item() for _ in range(3)]
    assert results == [1.0, 2.0, 3.0]
