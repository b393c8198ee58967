"""Models with branches, sizes that depend on data, nothing to take; and two backends in a row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")

CASES = Path(__file__).parent / "cases"
MODELS = Path(__file__).parent / "models"

Document = dict[str, Any]
Explained = Callable[..., Document]
Write = Callable[[str], Path]

END = """

def model():
    return Net().eval()


def example_inputs():
    return (torch.randn(5, 4),)
"""


def by_name(document: Document) -> dict[str, Document]:
    return {n["name"]: n for n in document["nodes"]}


def test_a_linear_in_a_branch_stops_lowering_and_is_named(
    explained: Explained, model_file: Write
) -> None:
    path = model_file(
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.a = nn.Linear(4, 4)\n\n"
        "    def forward(self, x):\n"
        "        return torch.cond(x.sum() > 0, lambda y: self.a(y) + 1, lambda y: y * 2, (x,))\n"
        + END
    )
    document = explained(path)
    assert document["stages"][-1]["status"] == "failed"
    assert "xnnpack" in document["finding_of_stage"]["message"]
    reasons = {n["op"]: n["reason"] for n in document["nodes"] if "." in n["name"]}
    assert reasons["aten.linear.default"]["code"] == "FALLBACK-NOT-DECOMPOSED"
    assert reasons["aten.mul.Tensor"]["code"] == "FALLBACK-CONTROL-FLOW"
    assert all(n["reason"]["message"] for n in document["nodes"])


def test_sizes_that_depend_on_data(explained: Explained, model_file: Write) -> None:
    path = model_file(
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.a = nn.Linear(4, 4)\n\n"
        "    def forward(self, x):\n"
        "        chosen = torch.nonzero(x[:, 0] > 0).squeeze(-1)\n"
        "        return self.a(x[chosen])\n" + END
    )
    document = explained(path)
    nodes = by_name(document)
    assert nodes["aten_nonzero_default"]["reason"]["code"] == "FALLBACK-DATA-DEPENDENT"
    assert "depends on the data" in nodes["aten_addmm_default"]["reason"]["agreement"]
    assert "EXPLAIN-DATA-DEPENDENT" in [f["code"] for f in document["findings"]]


def test_a_model_without_operators(explained: Explained, model_file: Write) -> None:
    path = model_file("class Net(nn.Module):\n    def forward(self, x):\n        return x\n" + END)
    document = explained(path)
    assert document["nodes"] == []
    (finding,) = document["findings"]
    assert finding["code"] == "EXPLAIN-NOTHING-DELEGATED"
    assert "no operator" in finding["message"]


def test_no_backend_at_all(explained: Explained) -> None:
    document = explained(MODELS / "planted.py", "portable")
    assert {n["reason"]["code"] for n in document["nodes"]} == {"FALLBACK-NO-BACKEND"}
    assert document["blockers"] == []


def test_a_later_backend_that_gets_nothing(
    explained: Explained, monkeypatch: pytest.MonkeyPatch, model_file: Write
) -> None:
    import partitioners
    from executorch_backend_kit.aot.discovery import Candidate, discover
    from executorch_backend_kit.explain import recipes

    silent = partitioners.describe(partitioners.Silent)
    found = (*discover(), Candidate("test", silent))
    monkeypatch.setattr(recipes, "candidates", lambda: found)
    path = model_file(
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        return torch.erf(torch.relu(x + x))\n" + END
    )
    document = explained(path, "xnnpack+silent", apply=True)
    (finding,) = (f for f in document["findings"] if f["code"] == "EXPLAIN-BACKEND-ORDER")
    assert "silent+xnnpack" in finding["fix"]
    (cure,) = (c for c in document["cures"] if c["kind"] == "order")
    assert cure["verified"] is True
    erf = next(n for n in document["nodes"] if n["op"] == "aten.erf.default")
    assert [r["backend"] for r in erf["reasons"]] == ["xnnpack", "silent"]
    assert erf["reason"]["code"] == "FALLBACK-NO-RULE"


def test_words_of_an_operator_that_was_refused_whole(
    explained: Explained, model_file: Write
) -> None:
    path = model_file(
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.a = nn.PReLU(4)\n\n"
        "    def forward(self, x):\n"
        "        return self.a(x.double())\n" + END.replace("eval()", "eval().double()")
    )
    document = explained(path)
    parts = [n["reason"] for n in document["nodes"] if n["reason"]]
    assert any(
        r["code"] == "FALLBACK-DECOMPOSED" and "aten.prelu.default" in r["message"] for r in parts
    ), parts


def test_the_same_operator_is_found_for_a_backend_that_is_known_from_facts(
    explained: Explained,
) -> None:
    """Vulkan, OpenVINO and Ethos-U: see scripts/verify_extras."""
    pytest.importorskip("coremltools")
    document = explained(MODELS / "planted.py", "coreml")
    first = document["blockers"][0]
    assert first["op"] == "aten.trunc.default"
    assert first["gain"]["delegates"] == 1
    node = by_name(document)[first["node"]]
    assert node["reason"]["provenance"] == "stated"
    assert node["reason"]["code"] == "FALLBACK-NO-RULE"


def test_the_reference_backend_says_why(explained: Explained) -> None:
    document = explained(MODELS / "planted_mlp.py", "reference")
    first = document["blockers"][0]
    assert first["op"] == "aten.trunc.default"
    reason = by_name(document)[first["node"]]["reason"]
    assert reason["provenance"] == "stated"
    assert "the device has no aten.trunc.default" in reason["message"]
    assert reason["hint"]


def test_a_spent_budget_is_said(explained: Explained) -> None:
    document = explained(CASES / "mean_drops_dims.py", budget=0.0)
    assert document["experiments"]["not_tried"] >= 1
    (node,) = (n for n in document["nodes"] if not n["delegated"])
    assert node["reason"]["provenance"] == "stated"
    assert node["reason"]["would_delegate_if"] is None
