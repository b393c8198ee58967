"""`etbk explain` as it is typed: exit codes, gates, changes since a baseline, program files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from executorch_backend_kit.explain import Gates, baseline, gates
from executorch_backend_kit.report.explanation_view import render
from harness import Etbk, Result
from rich.console import Console

CASES = Path(__file__).parent / "cases"
MODELS = Path(__file__).parent / "models"

Document = dict[str, Any]


@pytest.fixture(scope="module")
def gated(etbk: Etbk, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """One run with every gate: two hold, two do not."""
    file = tmp_path_factory.mktemp("gates") / "junit.xml"
    before = set(Path.cwd().iterdir())
    result = etbk(
        "explain",
        CASES / "conv3d_rank.py",
        *("--max-fallback", "5%", "--require", "XnnpackBackend"),
        *("--forbid", "FALLBACK-RANK", "--forbid", "FALLBACK-DTYPE"),
        *("--junit", file, "--json"),
    )
    # ExecuTorch writes files of its own when backends that compile are listened to.
    assert set(Path.cwd().iterdir()) == before
    return result, file


def test_a_failed_gate_ends_with_one(
    gated: tuple[Result, Path], validate: Callable[[Document], None]
) -> None:
    result, _ = gated
    assert result.code == 1, result.err
    validate(result.document)
    assert [(g["name"], g["passed"]) for g in result.document["gates"]] == [
        ("max-fallback 0.05", False),
        ("require XnnpackBackend", True),
        ("forbid FALLBACK-RANK", False),
        ("forbid FALLBACK-DTYPE", True),
    ]


def test_a_program_that_fails_in_execution_is_found(gated: tuple[Result, Path]) -> None:
    stages = {s["stage"]: s for s in gated[0].document["stages"]}
    assert stages["load"]["status"] == "ok"
    assert stages["execute"]["status"] == "failed"
    assert "0x12" in stages["execute"]["error"]


def test_kernels_of_the_rest_are_named(gated: tuple[Result, Path]) -> None:
    rows = gated[0].document["kernels_needed"]
    assert {"op": "aten::convolution", "overload": "out", "available": True} in rows


def test_junit_holds_stages_and_gates(gated: tuple[Result, Path]) -> None:
    suite = ElementTree.parse(gated[1]).getroot()
    failed = [c.get("name") for c in suite if c.find("failure") is not None]
    assert failed == ["stage execute", "max-fallback 0.05", "forbid FALLBACK-RANK"]
    assert suite.get("tests") == str(len(suite))
    assert suite.get("failures") == "3"


def test_a_model_that_cannot_be_exported_is_answered(
    etbk: Etbk, model_file: Callable[[str], Path], validate: Callable[[Document], None]
) -> None:
    path = model_file(
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x if x.sum() > 0 else -x\n\n\n"
        "def model():\n    return Net().eval()\n\n\n"
        "def example_inputs():\n    return (torch.ones(2),)\n"
    )
    result = etbk("explain", path, "--json")
    assert result.code == 0, result.err
    validate(result.document)
    stages = {s["stage"]: s["status"] for s in result.document["stages"]}
    assert stages["export"] == "failed"
    assert stages["lower"] == "skipped"
    assert "EXPORT-FAILED" in [f["code"] for f in result.document["findings"]]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((MODELS / "gone.py",), "MODEL-FILE-MISSING"),
        ((MODELS / "gone.pte",), "PTE-001"),
        ((MODELS / "planted.py", "--backends", "xnnpakc"), "BACKEND-UNKNOWN"),
        ((MODELS / "planted.py", "--option", "xnnpack.nothing=1"), "BACKEND-OPTION-UNKNOWN"),
        ((MODELS / "planted.py", "--max-fallback", "200%"), "EXPLAIN-GATE-INVALID"),
        ((MODELS / "planted.py", "--forbid", "FALLBACK-DTYP"), "EXPLAIN-GATE-INVALID"),
        ((MODELS / "planted.py", "--baseline", MODELS / "planted.py"), "EXPLAIN-BASELINE-INVALID"),
    ],
)
def test_a_bad_command_line_is_told(etbk: Etbk, arguments: tuple[Any, ...], code: str) -> None:
    result = etbk("explain", *arguments)
    assert result.code == 2
    assert code in result.err


@pytest.mark.filterwarnings("ignore")
def test_a_program_file_tells_what_it_can(
    etbk: Etbk, tmp_path: Path, validate: Callable[[Document], None]
) -> None:
    import torch
    from executorch_backend_kit.aot import lower
    from executorch_backend_kit.compare import model_file

    file = model_file.load(MODELS / "planted.py")
    program = torch.export.export(file.model(), file.input_sets()[0])
    path = tmp_path / "planted.pte"
    path.write_bytes(lower(program, ["xnnpack"]).to_executorch().buffer)
    result = etbk("explain", path, "--json", "--require", "XnnpackBackend")
    assert result.code == 0, result.err
    validate(result.document)
    assert result.document["summary"]["delegates"] == 2
    assert {"op": "aten::trunc", "overload": "out", "available": True} in result.document[
        "kernels_needed"
    ]
    assert "EXPLAIN-NO-SOURCE" in [f["code"] for f in result.document["findings"]]
    shown = text(result.document)
    assert "aten::trunc.out" in shown
    damaged = tmp_path / "damaged.pte"
    damaged.write_bytes(path.read_bytes()[:1000])
    assert etbk("explain", damaged).code == 3


def text(document: Document) -> str:
    console = Console(width=120, record=True, force_terminal=False)
    with console.capture() as captured:
        render(document, console)
    return captured.get()


@pytest.mark.filterwarnings("ignore")
class TestWithoutACommand:
    """What is rendered and compared, on documents that were made in this process."""

    @staticmethod
    def whole(document: Document) -> Document:
        rest: Document = {
            "schema": "etbk.explain/1",
            "model": "model.py",
            "configuration": "xnnpack",
            "kernels_needed": [],
            "changes": None,
            "gates": [],
            "environment": {},
        }
        kept = {k: v for k, v in document.items() if k != "finding_of_stage"}
        return {**rest, **kept}

    def test_documents_fit_the_schema(
        self, explained: Callable[..., Document], validate: Callable[[Document], None]
    ) -> None:
        for name in ("mean_drops_dims", "attention_sdpa", "quant_dynamic_per_tensor"):
            validate(self.whole(explained(CASES / f"{name}.py")))

    def test_the_summary_comes_first_then_the_ranked_list(
        self, explained: Callable[..., Document]
    ) -> None:
        shown = text(self.whole(explained(CASES / "mean_drops_dims.py")))
        order = ["delegated:", "What stands in the way", "Why", "Cures"]
        places = [shown.index(part) for part in order]
        assert places == sorted(places)
        assert "the backend says: mean.dim only supports keepdim=True" in shown
        assert "taken if keepdim were True" in shown
        assert "really lowered" in shown
        assert "keepdim=True), 1)" in shown

    def test_changes_since_a_baseline(
        self, explained: Callable[..., Document], tmp_path: Path
    ) -> None:
        before = self.whole(explained(CASES / "mean_drops_dims.py"))
        after = self.whole(explained(CASES / "mean_keeps_dims_control.py"))
        file = tmp_path / "baseline.json"
        file.write_text(json.dumps(before))
        changes = baseline.changes(baseline.read(file), after)
        assert changes["delegated"] == ["aten_mean_dim"]
        assert changes["fell_back"] == []
        assert changes["numbers"]["delegates"] == [2, 1]
        assert baseline.changes(after, before)["fell_back"] == ["aten_mean_dim"]

    def test_gates_hold_for_a_whole_model(self, explained: Callable[..., Document]) -> None:
        document = self.whole(explained(CASES / "per_op_baseline_control.py"))
        asked = Gates(0.0, ("xnnpack",), ("FALLBACK-DTYPE",))
        assert all(gate.passed for gate in asked.judge(document))
        (missing,) = Gates(require=("openvino",)).judge(document)
        assert not missing.passed

    def test_a_share_is_written_in_two_ways(self) -> None:
        assert gates.share("5%") == gates.share("0.05") == 0.05
