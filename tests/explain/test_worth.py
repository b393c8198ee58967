"""What an operator costs: found first, and its gain is the difference of two real lowerings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")

MODELS = Path(__file__).parent / "models"
CASES = Path(__file__).parent / "cases"
PLANTED = "aten.trunc.default"

Document = dict[str, Any]
Explained = Callable[..., Document]


def test_a_planted_culprit_comes_first_with_the_measured_gain(explained: Explained) -> None:
    document = explained(MODELS / "planted.py")
    first = document["blockers"][0]
    assert first["op"] == PLANTED
    before = document["summary"]
    after = explained(MODELS / "planted_without.py")["summary"]

    def outside(summary: Document) -> int:
        work = summary["arithmetic"]
        return int(work["total"] - work["delegated"])

    assert first["gain"] == {
        "arithmetic": outside(before) - outside(after),
        "delegates": before["delegates"] - after["delegates"],
        "boundary_bytes": before["boundary_bytes"] - after["boundary_bytes"],
    }
    assert first["gain"]["delegates"] == 1
    assert first["gain"]["boundary_bytes"] == 2 * 8 * 16 * 16 * 4


def test_boundaries_are_those_of_the_lowered_program(explained: Explained) -> None:
    from executorch.exir.lowered_backend_module import executorch_call_delegate
    from executorch_backend_kit.explain import worker
    from executorch_backend_kit.explain.nodes import bytes_of

    explained(CASES / "unsqueeze_front.py", budget=0.0)  # the last one that was lowered
    summary = worker.survey({})["summary"]
    lowered = worker._session.lowered
    assert lowered is not None
    crossing = calls = 0
    for node in lowered.edge.exported_program().graph.nodes:
        if node.op == "call_function" and node.target is executorch_call_delegate:
            calls += 1
            crossing += bytes_of(node)
            crossing += sum(bytes_of(n) for n in node.all_input_nodes if n.op != "get_attr")
    assert summary["delegates"] == calls
    assert summary["boundary_bytes"] == crossing


def test_equal_operators_count_together(explained: Explained) -> None:
    (islands,) = explained(CASES / "many_islands.py")["blockers"]
    assert islands["count"] == 8
    assert islands["gain"]["delegates"] == 7
    codes = [f["code"] for f in explained(CASES / "many_islands.py")["findings"]]
    assert "EXPLAIN-SMALL-DELEGATES" in codes


def test_nothing_delegated_is_a_warning(explained: Explained) -> None:
    findings = explained(CASES / "bf16_mlp.py")["findings"]
    (finding,) = (f for f in findings if f["code"] == "EXPLAIN-NOTHING-DELEGATED")
    assert finding["severity"] == "warning"
    assert "FALLBACK-DTYPE" in finding["evidence"]


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("quant_static_control", "int8 static"),
        ("quant_dynamic_per_channel", "int8 dynamic"),
        ("bf16_mlp", "bfloat16"),
        ("mean_drops_dims", "float32"),
    ],
)
def test_precision_of_units(name: str, precision: str, explained: Explained) -> None:
    assert precision in explained(CASES / f"{name}.py")["summary"]["precision"]


def test_arithmetic_by_formula(explained: Explained) -> None:
    nodes = explained(CASES / "mean_drops_dims.py")["nodes"]
    work = {n["op"]: n["arithmetic"] for n in nodes}
    assert work["aten.convolution.default"] == (2 * 3 * 9 + 1) * 8 * 8 * 8
    assert work["aten.linear.default"] == (2 * 8 + 1) * 4
    assert work["aten.mean.dim"] == 8 * 8 * 8


def test_an_operator_without_a_formula_is_said(
    explained: Explained, model_file: Callable[[str], Path]
) -> None:
    path = model_file(
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        return torch.cdist(x, x)\n\n\n"
        "def model():\n    return Net().eval()\n\n\n"
        "def example_inputs():\n    return (torch.randn(4, 3),)\n"
    )
    document = explained(path)
    assert document["summary"]["arithmetic"]["unknown_operators"] != []


def test_sizes_are_kept_apart(explained: Explained) -> None:
    summary = explained(CASES / "view_two_symbolic_dims.py")["summary"]
    assert summary["nodes"]["scalar"] == 2
    assert summary["nodes"]["tensor"] == 3
