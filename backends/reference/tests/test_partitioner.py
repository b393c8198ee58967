"""What is refused, and with which reason; what lowering leaves alone."""

import copy
from importlib import metadata
from typing import Any

import pytest
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from reference_executorch_backend import ReferencePartitioner
from reference_executorch_backend.versions import UnsupportedExecuTorchError
from torch import nn
from torch.export import Dim, export
from torch.nn import functional

FLOAT = torch.ones(2, 3, 4, 4)
REFUSED: dict[str, tuple[Any, tuple[torch.Tensor, ...], str, str]] = {
    "operator": (torch.sin, (FLOAT,), "REFERENCE-OP", "no aten.sin.default"),
    "type": (torch.add, (FLOAT.half(), FLOAT.half()), "REFERENCE-DTYPE", "x is torch.float16"),
    "rank": (torch.relu, (torch.ones(1, 1, 1, 1, 1, 1, 2),), "REFERENCE-RANK", "7 dimensions"),
    "empty": (torch.relu, (torch.ones(0, 2),), "REFERENCE-SIZE", "(0, 2)"),
    "layout": (
        torch.relu,
        (FLOAT.to(memory_format=torch.channels_last),),
        "REFERENCE-LAYOUT",
        "not laid out",
    ),
    "argument": (
        lambda x, y: torch.add(x, y, alpha=2),
        (FLOAT, FLOAT),
        "REFERENCE-ARGUMENT",
        "alpha is 2",
    ),
    "moves": (lambda x: x.transpose(0, 1), (FLOAT,), "REFERENCE-NO-WORK", "only moves data"),
}


class Function(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
        result: torch.Tensor = self.function(x) if y is None else self.function(x, y)
        return result


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name: str) -> None:
    function, inputs, code, message = REFUSED[name]
    partitioner = ReferencePartitioner()
    edge = to_edge_transform_and_lower(export(Function(function), inputs), partitioner=[])
    before = str(edge.exported_program().graph)
    result = partitioner.partition(copy.deepcopy(edge.exported_program()))
    assert str(result.tagged_exported_program.graph) == before
    assert not result.partition_tags
    (refusal, *_) = partitioner.refusals
    assert refusal.code == code
    assert message in refusal.message
    assert refusal.hint
    assert refusal.node in before
    assert refusal.op.startswith("aten.")


def test_sizes_that_no_input_tells() -> None:
    class Sum(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.relu(torch.cat([x, y]))

    shapes = {"x": {0: Dim("a", max=8)}, "y": {0: Dim("b", max=8)}}
    partitioner = ReferencePartitioner()
    exported = export(Sum(), (torch.ones(3, 2), torch.ones(4, 2)), dynamic_shapes=shapes)
    to_edge_transform_and_lower(exported, partitioner=[partitioner])
    reasons = {refusal.op: refusal.code for refusal in partitioner.refusals}
    assert reasons["aten.relu.default"] == "REFERENCE-SIZE"


def test_attention_that_cannot_be_kept_does_not_stop_the_export() -> None:
    class Causal(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return functional.scaled_dot_product_attention(x, x, x, is_causal=True)

    exported = export(Causal(), (torch.ones(1, 2, 3, 4),))
    partitioner = ReferencePartitioner(whole_attention=True)
    edge = to_edge_transform_and_lower(exported, partitioner=[partitioner])
    assert "executorch_call_delegate" in str(edge.exported_program().graph)


@pytest.mark.parametrize("staged", [True, False])
def test_the_next_backend_takes_what_is_left(staged: bool, check: Any) -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 4))
    inputs = (torch.randn(2, 8),)
    ours, next_one = ReferencePartitioner(), XnnpackPartitioner()
    first = [ours] if staged else [ours, next_one]
    edge = to_edge_transform_and_lower(export(model, inputs), partitioner=first)
    program = (edge.to_backend(next_one) if staged else edge).to_executorch()
    plan = program.executorch_program.execution_plan[0]
    assert {delegate.id for delegate in plan.delegates} == {"ReferenceBackend", "XnnpackBackend"}
    check(model, program, inputs)


@pytest.mark.parametrize("dynamic", [True, False])
def test_attention_beside_another_partitioner(dynamic: bool, check: Any) -> None:
    class Heads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.out = nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            batch, length, width = x.shape
            y = x.view(batch, length, 2, 4).transpose(1, 2)
            y = functional.scaled_dot_product_attention(y, y, y).transpose(1, 2)
            result: torch.Tensor = self.out(y.reshape(batch, length, width))
            return result

    model, inputs = Heads(), (torch.randn(2, 3, 8),)
    shapes = ({0: Dim("batch", max=4), 1: Dim("length", max=8)},) if dynamic else None
    exported = export(model, inputs, dynamic_shapes=shapes)
    both = [ReferencePartitioner(), XnnpackPartitioner()]
    check(model, to_edge_transform_and_lower(exported, partitioner=both).to_executorch(), inputs)


def test_equal_graphs_give_equal_programs(lower: Any) -> None:
    model, inputs = nn.Linear(4, 4), (torch.ones(1, 4),)
    assert lower(model, inputs).buffer == lower(model, inputs).buffer


def test_unsupported_executorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "1.6.0")
    monkeypatch.setattr("reference_executorch_backend.versions.version", lambda _: "1.6.0")
    with pytest.raises(UnsupportedExecuTorchError, match=r"found 1\.6\.0.*pip install"):
        ReferencePartitioner()


def test_unknown_place_of_weights(lower: Any) -> None:
    with pytest.raises(Exception, match="REFERENCE-COMPILE-SPEC"):
        lower(nn.Linear(4, 4), (torch.ones(1, 4),), ReferencePartitioner(weights="elsewhere"))
