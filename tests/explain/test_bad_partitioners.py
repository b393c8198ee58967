"""A backend that misbehaves in choosing gets a finding with its name, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")

Document = dict[str, Any]
MODEL = """
class Net(nn.Module):
    def forward(self, x):
        return torch.relu(torch.tanh(x + x) + x)


def model():
    return Net().eval()


def example_inputs():
    return (torch.randn({sizes}),)
"""


@pytest.fixture
def explain_with(
    explained: Callable[..., Document],
    model_file: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Document]:
    """Explains a small model for one of the partitioners."""

    def explain(name: str, sizes: str = "2, 3") -> Document:
        import partitioners
        from executorch_backend_kit.aot.discovery import Candidate
        from executorch_backend_kit.explain import recipes

        descriptor = partitioners.describe(getattr(partitioners, name))
        monkeypatch.setattr(recipes, "candidates", lambda: (Candidate("test", descriptor),))
        return explained(model_file(MODEL.format(sizes=sizes)), descriptor.name)

    return explain


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("Throws", "BACKEND-PARTITIONER-FAILED", "no such operator table"),
        ("Loops", "PARTITIONER-HUNG", "ended after"),
        ("Changes", "PARTITIONER-CHANGED-GRAPH", "aten_add_tensor"),
        ("Cycles", "PARTITIONER-CYCLE", "aten_tanh_default"),
    ],
)
def test_a_finding_names_the_backend(
    name: str,
    code: str,
    says: str,
    explain_with: Callable[..., Document],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from executorch_backend_kit.explain import recording

    monkeypatch.setattr(recording, "PARTITION_LIMIT", 0.5)
    document = explain_with(name)
    finding = document["finding_of_stage"]
    assert finding["code"] == code
    assert name.lower() in finding["message"]
    assert says in finding["evidence"]
    assert finding["fix"]
    stage = document["stages"][-1]
    assert (stage["stage"], stage["status"]) == ("lower", "failed")


def test_the_operators_are_still_listed(explain_with: Callable[..., Document]) -> None:
    document = explain_with("Throws")
    assert [n["op"] for n in document["nodes"]] == [
        "aten.add.Tensor",
        "aten.tanh.default",
        "aten.add.Tensor",
        "aten.relu.default",
    ]
    assert all(n["reason"]["message"] for n in document["nodes"])


def test_a_silent_backend_is_found_out_by_experiment(
    explain_with: Callable[..., Document],
) -> None:
    document = explain_with("Silent", "2, 3, 4")
    add = next(n for n in document["nodes"] if n["op"] == "aten.add.Tensor")
    reason = add["reason"]
    assert (reason["code"], reason["provenance"]) == ("FALLBACK-RANK", "inferred")
    assert reason["would_delegate_if"] == "the tensors' rank were 2 (is 3)"
    assert reason["experiment"]["confirmed"] == "lowered"
    relu = next(n for n in document["nodes"] if n["op"] == "aten.relu.default")
    assert relu["reason"]["provenance"] == "unknown"
    assert "refused in all" in relu["reason"]["message"]


def test_a_backend_that_fails_in_experiments_only(explain_with: Callable[..., Document]) -> None:
    document = explain_with("FailsOnEmpty", "2, 3, 4")
    add = next(n for n in document["nodes"] if n["op"] == "aten.add.Tensor")
    assert "there must be a relu" in add["reason"]["message"]
    assert add["reason"]["provenance"] == "unknown"
