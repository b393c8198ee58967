"""What the tests of explanations share: one lowering in this process for each case."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit_command import cache, etbk, validate

__all__ = ["cache", "etbk", "validate"]

Document = dict[str, Any]
CASES = Path(__file__).parent / "cases"

# Cases of which each cure is applied to the whole model.
CURED = {
    "add_alpha",
    "avgpool_counts_padding",
    "bf16_mlp",
    "float64_input",
    "mean_drops_dims",
    "power_not_square",
    "unsqueeze_front",
    "view_two_symbolic_dims",
}


@pytest.fixture(scope="session")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Document]:
    """Explains a MODEL file in this process: what the worker does, without a program that is run.

    Each question is answered once. With `keep`, the worker's state is that of this model.
    """
    from executorch_backend_kit.explain import worker

    answers: dict[str, Document] = {}

    def explain(
        model: Path,
        backends: str = "xnnpack",
        *,
        options: dict[str, dict[str, str]] | None = None,
        budget: float = 120.0,
        apply: bool | None = None,
    ) -> Document:
        if apply is None:
            apply = budget > 0 and model.parent == CASES and model.stem in CURED
        key = repr((model, backends, options, budget, apply))
        if key not in answers:
            folder = tmp_path_factory.mktemp("explained")
            names = [] if backends == "portable" else backends.split("+")
            worker.forget()
            opened = worker.open_model(
                {"model": str(model), "folder": str(folder), "backends": names}
            )
            assert opened["stages"][-1]["status"] == "ok", opened
            lowered = worker.lower_model({"backends": names, "options": options or {}})
            if lowered["ok"]:
                worker.emit({"program": str(folder / "program.pte")})
            document = worker.experiment({"budget": budget})
            document["cures"] = worker.cure({"document": document, "apply": apply})["cures"]
            document["finding_of_stage"] = lowered["finding_of_stage"]
            answers[key] = document
        return answers[key]

    return explain


@pytest.fixture(scope="session")
def observed() -> dict[str, Document]:
    """What XNNPACK of ExecuTorch 1.5.1 was seen to do with each case."""
    found: dict[str, Document] = json.loads((CASES / "observed.json").read_text())
    return found


@pytest.fixture
def model_file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a MODEL file with the body of its module class and inputs."""

    def write(text: str) -> Path:
        path = tmp_path / f"model_{len(list(tmp_path.iterdir()))}.py"
        path.write_text("import torch\nfrom torch import nn\n\n\n" + text)
        return path

    return write
