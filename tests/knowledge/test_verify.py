"""`etbk knowledge verify`: right facts pass, and each planted wrong one is found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from executorch_backend_kit.knowledge import store
from harness import Document, Etbk, Result

SOURCES = Path(__file__).parents[2] / "python" / "executorch_backend_kit" / "knowledge"

# Wrong facts of different kinds: a backend, a text in its file, what is put there, and the field
# that must be reported.
PLANTED = {
    "module-does-not-exist": (
        "vulkan",
        'module = "executorch.backends.vulkan"\n',
        'module = "executorch.backends.vulcan"\n',
        "modules[1].state",
    ),
    "name-does-not-exist": (
        "vulkan",
        'names = ["VulkanBackend"]',
        'names = ["VulkanBakend"]',
        "modules[3].names",
    ),
    "error-of-an-import": (
        "nxp",
        "RuntimeError: eIQ Neutron SDK not found.",
        "ImportError: no SDK.",
        "modules[0].error",
    ),
    "it-does-not-import": ("mediatek", 'state = "fails"', 'state = "imports"', "modules[0].state"),
    "parameter-of-a-partitioner": (
        "xnnpack",
        '"per_op_mode", "verbose"',
        '"per_op_mode"',
        "partitioner.parameters",
    ),
    "class-of-a-quantizer": (
        "xnnpack",
        ':XNNPACKQuantizer"',
        ':XNNPackQuantizer"',
        "quantizer.class",
    ),
    "option-of-a-partitioner": (
        "vulkan",
        'name = "operator_blocklist"',
        'name = "operator_denylist"',
        "options[5].name",
    ),
    "recipe": ("coreai", '"coreai_fp16"', '"coreai_int8"', "recipes.names"),
    "registered-in-the-wheel": (
        "example",
        "registered_in_wheel = []",
        'registered_in_wheel = ["any", "linux-x86-64"]',
        "runtime.registered_in_wheel",
    ),
    "range-of-an-extra": (
        "openvino",
        '>=2025.1,<2026"\nrange_from',
        '>=2025.1,<2027"\nrange_from',
        "requires[0].range",
    ),
    "component-of-the-wheel": (
        "qnn",
        '"executorch::backend_qnn"',
        '"executorch::backend_qualcomm"',
        "build.wheel_component",
    ),
    "number-of-delegates": ("native", "NativeBackend = 1", "NativeBackend = 2", "export.delegates"),
    "it-runs": ("webgpu", "runs = false", "runs = true", "export.runs"),
    "snippet": (
        "portable",
        "import to_edge_transform_and_lower",
        "import to_edge_and_lower",
        "export.snippet",
    ),
    "error-of-lowering": (
        "coreai",
        "error = \"ModuleNotFoundError: No module named 'coreai_torch'\"",
        'error = "OSError"',
        "export.error",
    ),
    "flag-of-the-build": (
        "samsung",
        "EXECUTORCH_BUILD_ENN=ON",
        "EXECUTORCH_BUILD_EXYNOS=ON",
        "build.flags[0]",
    ),
    "target-of-the-build": ("samsung", '"enn_backend"', '"exynos_backend"', "build.targets[0]"),
}


@pytest.fixture(scope="module")
def source_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source tree whose CMake files have every flag and target that the facts name."""
    folder = tmp_path_factory.mktemp("executorch")
    documents = store.read_sources(SOURCES)["backends"].values()
    builds = [d.get("build", {}) for d in documents]
    flags = {flag.partition("=")[0] for build in builds for flag in build.get("flags", ())}
    targets = {target for build in builds for target in build.get("targets", ())}
    (folder / "CMakeLists.txt").write_text("".join(f"option({flag} OFF)\n" for flag in flags))
    (folder / "backends").mkdir()
    lines = "".join(f"add_library({target} STATIC x.cpp)\n" for target in targets)
    (folder / "backends" / "CMakeLists.txt").write_text(lines)
    return folder


@pytest.fixture(scope="module")
def verified(etbk: Etbk, source_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One verification of every fact, with the planted ones as backends of their own."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "backends").mkdir()
    for name, (backend, right, wrong, _) in PLANTED.items():
        text = (SOURCES / "backends" / f"{backend}.toml").read_text()
        assert right in text, f"{name}: the fact that was to be falsified is not there"
        text = text.replace(right, wrong, 1).replace(f'name = "{backend}"', f'name = "{name}"', 1)
        text = re.sub(r"^aliases = .*\n", "", text, flags=re.MULTILINE)
        if not PLANTED[name][3].startswith("export."):  # lowering is the slow part
            text = re.sub(r"^\[export\]\n.*?(?=^\[)", "", text, flags=re.MULTILINE | re.DOTALL)
        (folder / "backends" / f"{name}.toml").write_text(text)
    return etbk(
        "knowledge",
        "verify",
        "--json",
        "--source",
        source_tree,
        ETBK_KNOWLEDGE=str(folder),
        timeout=600,
    )


@pytest.fixture(scope="module")
def checks(verified: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = verified.document["checks"]
    return found


def wrong(checks: list[dict[str, Any]], backend: str) -> set[str]:
    return {c["fact"] for c in checks if c["backend"] == backend and c["result"] == "wrong"}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_wrong_fact_is_found(name: str, checks: list[dict[str, Any]]) -> None:
    assert PLANTED[name][3] in wrong(checks, name)


@pytest.mark.parametrize("name", store.read_sources(SOURCES)["backends"])
def test_facts_of_the_kit_are_right(name: str, checks: list[dict[str, Any]]) -> None:
    assert wrong(checks, name) == set()


def test_enough_is_checked(checks: list[dict[str, Any]]) -> None:
    kit = [c for c in checks if c["backend"] not in PLANTED]
    assert sum(c["result"] == "right" for c in kit) >= 230


def test_a_wrong_fact_is_a_finding_and_exit_code_1(
    verified: Result, validate: Callable[[Document], None]
) -> None:
    assert verified.code == 1
    document = verified.document
    validate(document)
    messages = [f["message"] for f in document["findings"]]
    assert {f["code"] for f in document["findings"]} == {"KNOWLEDGE-WRONG"}
    assert any("number-of-delegates" in message for message in messages)


def test_a_folder_without_source_is_refused(etbk: Etbk, tmp_path: Path) -> None:
    result = etbk("knowledge", "verify", "native", "--source", tmp_path)
    assert result.code == 2
    assert "SOURCE-TREE-MISSING" in result.err


def test_unknown_backend_is_refused(etbk: Etbk) -> None:
    result = etbk("knowledge", "verify", "vulcan")
    assert result.code == 2
    assert "nearest: vulkan" in result.err


def test_check_says_good_or_names_the_line(etbk: Etbk, tmp_path: Path) -> None:
    good = tmp_path / "good.toml"
    good.write_text('name = "xnnpack"\ntitle = "Mine"\n')
    assert etbk("knowledge", "check", good).code == 0
    bad = tmp_path / "bad.toml"
    bad.write_text('name = "xnnpack"\n\n[shapes]\ndynamic = "perhaps"\n')
    result = etbk("knowledge", "check", bad)
    assert result.code == 3
    assert f"{bad}:4, field shapes.dynamic" in result.err


def test_the_json_is_one_document(verified: Result) -> None:
    assert json.loads(verified.out)["schema"] == "etbk.knowledge/1"
