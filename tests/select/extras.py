"""What needs more than the plain wheel; `scripts/verify_extras` runs it, `scripts/test` does not.

Every plan whose packages are here is lowered by its own snippet, each recipe of quantization is
tried, and one model is exported for four kinds of devices.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from executorch_backend_kit.export.programs import missing_to_lower
from executorch_backend_kit.knowledge import Knowledge, load
from executorch_backend_kit.probe import Prober
from executorch_backend_kit.select import choose
from executorch_backend_kit.select.plan import Plan, plans
from executorch_backend_kit.select.snippets import compose
from golden import plain_request
from harness import Document, Etbk
from snippet_trials import lowered

CNN = Path(__file__).parents[2] / "examples" / "cnn.py"
FOUR = {
    "linux-x86-64": "XnnpackBackend",
    "ios": "CoreMLBackend",
    "android-gpu": "VulkanBackend",
    "cortex-m55-ethos-u55": "EthosUBackend",
}
SLOW = {("coreml", "int8")}  # minutes, see its traps: tried by hand


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load()


@pytest.fixture(scope="module")
def prober() -> Iterator[Prober]:
    with Prober() as server:
        yield server


def possible(knowledge: Knowledge) -> dict[str, Plan]:
    """By code, the plans that can be followed here."""
    found: dict[str, Plan] = {}
    for target in knowledge.targets:
        for plan in plans(choose(knowledge, plain_request(target)), knowledge):
            c = plan.contender
            # A runtime that reaches a GPU or an NPU to compile is not here.
            here = str(c.backend.get("export", "settings", default={}).get("device", ""))
            if here and plan.settings.get("device", here) != here:
                continue
            if plan.snippet.code and not missing_to_lower(plan):
                found.setdefault(plan.snippet.code, plan)
    return found


def test_every_plan_that_can_be_followed_here_gives_its_delegate(
    knowledge: Knowledge, prober: Prober, tmp_path: Path
) -> None:
    wanted = possible(knowledge)
    failing = {"cadence", "metal", "mlx", "coreai", "native", "samsung", "vgf", "nxp", "cuda"}
    seen = lowered(prober, {code: code for code in wanted}, tmp_path)
    for code, plan in wanted.items():
        backend = plan.contender.backend
        if backend.name in failing:  # recorded to fail on Linux, for reasons beyond packages
            continue
        report = seen[code]
        assert "delegates" in report, (plan.name, report)
        assert backend.id == "" or backend.id in report["delegates"], (plan.name, report)
        for operator in backend.texts("export", "operators"):
            assert operator in report["operators"], (plan.name, report)


def test_every_recipe_that_can_be_tried_here_delegates(
    knowledge: Knowledge, prober: Prober, tmp_path: Path
) -> None:
    names = {plan.contender.name for plan in possible(knowledge).values()}
    codes: dict[str, Any] = {}
    for name in sorted(names & {"xnnpack", "vulkan", "openvino", "ethos-u", "cortex-m"}):
        backend = knowledge.backends[name]
        for recipe in backend.get("quantization", "recipes", default=()):
            if (name, recipe["name"]) not in SLOW:
                code = compose(backend, {}, [], quantize=recipe["name"]).code
                codes[f"{name} {recipe['name']}"] = code
    assert codes
    for name, report in lowered(prober, codes, tmp_path).items():
        backend = knowledge.backends[name.split()[0]]
        assert "delegates" in report, (name, report)
        assert backend.id == "" or backend.id in report["delegates"], (name, report)


@pytest.mark.skipif(
    importlib.util.find_spec("tosa_serializer") is None, reason="the extra ethos-u is not here"
)
def test_one_model_for_four_kinds_of_devices(etbk: Etbk, tmp_path: Path) -> None:
    targets = [word for target in FOUR for word in ("--target", target)]
    done = etbk("export", CNN, *targets, "--quantize", "cortex-m55-ethos-u55=int8", "-o", tmp_path)
    assert done.code == 0, done.out + done.err
    manifest: Document = json.loads((tmp_path / "manifest.json").read_text())
    assert len(manifest["files"]) == len(FOUR)
    for row in manifest["files"]:
        assert row["status"] == "made"
        assert [d["id"] for d in row["delegation"]["delegates"]] == [FOUR[row["target"]]]
        assert row["evidence"]["level"] == "compiled"
        assert (tmp_path / row["file"]).stat().st_size == row["bytes"]
