"""What the doctor says of the plain wheel, and how long it takes to say it again."""

from __future__ import annotations

import resource
from collections.abc import Callable
from importlib import metadata, util
from pathlib import Path

import pytest
from harness import Document, Etbk, Result

pytestmark = pytest.mark.skipif(
    not metadata.version("executorch").startswith("1.5."), reason="recorded for ExecuTorch 1.5"
)

STATES = {
    "xnnpack": "usable",
    "portable": "usable",
    "coreml": "compiles",
    "vulkan": "compiles",
    "webgpu": "compiles",
    "native": "compiles",
    "example": "compiles",
    "coreai": "importable",
    "metal": "importable",
    "qnn": "importable",
    "cuda": "unavailable",
    "ethos-u": "unavailable",
    "vgf": "unavailable",
    "cortex-m": "unavailable",
    "mediatek": "unavailable",
    "mlx": "unavailable",
    "nxp": "unavailable",
    "openvino": "unavailable",
    "samsung": "unavailable",
    "tensorrt": "unavailable",
    "mps": "removed",
}
# What must be said about a backend that cannot be used.
EVIDENCE = {
    "coreai": "No module named 'coreai_torch'",
    "qnn": "Failed to set up QNN SDK",
    "cuda": "No module named 'triton'",
    "ethos-u": "No module named 'tosa_serializer'",
    "mediatek": "No module named 'mtk_converter'",
    "mlx": "MLX delegate generated files not found",
    "nxp": "eIQ Neutron SDK not found",
    "openvino": "No module named 'openvino'",
    "samsung": "No module named 'executorch.backends.samsung.python'",
    "mps": "removed in ExecuTorch 1.5",
    "vulkan": "does not have VulkanBackend",
}


def of(diagnosis: Document, name: str) -> Document:
    (backend,) = [b for b in diagnosis["backends"] if b["name"] == name]
    return dict(backend)


def test_document_fits_its_schema(
    cold: Result, diagnosis: Document, validate: Callable[[Document], None]
) -> None:
    assert cold.code == 0
    validate(diagnosis)


@pytest.mark.parametrize("name", STATES)
def test_state_of_each_backend(name: str, diagnosis: Document) -> None:
    assert of(diagnosis, name)["state"] == STATES[name]


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_of_each_backend(name: str, diagnosis: Document) -> None:
    assert EVIDENCE[name] in of(diagnosis, name)["evidence"]


def test_usable_means_a_run_with_right_numbers(diagnosis: Document) -> None:
    for name in ("xnnpack", "portable"):
        backend = of(diagnosis, name)
        assert backend["evidence"].startswith("ran on host CPU")
        assert backend["max_abs_error"] < 1e-5
    assert of(diagnosis, "xnnpack")["delegates"] == {"XnnpackBackend": 1}


def test_registered_is_not_available_is_not_usable(diagnosis: Document) -> None:
    qnn = of(diagnosis, "qnn")
    assert (qnn["registered"], qnn["available"], qnn["state"]) == (True, True, "importable")
    assert "AVAILABILITY-NOT-CHECKED" in [f["code"] for f in qnn["findings"]]
    openvino = of(diagnosis, "openvino")
    assert (openvino["registered"], openvino["available"]) == (True, False)


@pytest.mark.skipif(util.find_spec("reference_executorch_backend") is None, reason="not installed")
def test_a_plugin_described_by_a_package_is_usable_by_a_run(diagnosis: Document) -> None:
    reference = of(diagnosis, "reference")
    assert reference["state"] == "usable"
    assert reference["delegates"] == {"ReferenceBackend": 1}
    assert reference["max_abs_error"] < 1e-5
    assert "ReferenceBackend" in diagnosis["slots"]["names"]
    assert "ReferenceBackend" in [i for p in diagnosis["plugins"] for i in p["backends"]]


def test_slots_and_modules_are_listed(diagnosis: Document) -> None:
    assert diagnosis["slots"]["names"][:3] == ["QnnBackend", "OpenvinoBackend", "XnnpackBackend"]
    assert diagnosis["slots"]["limit"] == 16
    modules = {m["module"]: m for m in diagnosis["modules"]}
    assert modules["executorch.backends.vulkan"]["importable"]
    assert not modules["executorch.backends.mediatek"]["importable"]
    assert "mtk_converter" in modules["executorch.backends.mediatek"]["error"]


def test_what_an_import_does_is_reported(diagnosis: Document) -> None:
    changes = [f for f in of(diagnosis, "vulkan")["findings"] if f["code"] == "IMPORT-SIDE-EFFECT"]
    assert "root logger level: WARNING to INFO" in changes[0]["evidence"]
    assert "IMPORT-NETWORK" in [f["code"] for f in of(diagnosis, "qnn")["findings"]]


def test_every_error_says_what_to_do(diagnosis: Document) -> None:
    for backend in diagnosis["backends"]:
        for finding in backend["findings"]:
            if finding["severity"] == "error":
                assert finding["fix"], finding


def test_second_call_comes_from_the_cache_and_says_so(diagnosis: Document, etbk: Etbk) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    again = etbk("doctor", "--json").document
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert again["cached_seconds_ago"] is not None
    assert [b["state"] for b in again["backends"]] == [b["state"] for b in diagnosis["backends"]]
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0
    assert "from the cache" in etbk("doctor").out


def test_fast_imports_nothing_and_claims_nothing(etbk: Etbk, tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    document = etbk("doctor", "--fast", "--json", ETBK_CACHE=str(tmp_path)).document
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2.0
    states = {b["state"] for b in document["backends"]}
    assert states == {"unknown", "unavailable", "removed"}
    assert of(document, "xnnpack")["state"] == "unknown"
    assert of(document, "openvino")["state"] == "unavailable"
    assert not document["modules"]
    assert not list(tmp_path.iterdir())


def test_exit_codes(diagnosis: Document, etbk: Etbk) -> None:
    assert diagnosis["backends"]
    assert etbk("doctor", "xnnpack").code == 0
    assert etbk("doctor", "openvino").code == 1
    unknown = etbk("doctor", "vulcan")
    assert unknown.code == 2
    assert "nearest: vulkan" in unknown.err


def test_commands_start_quickly(etbk: Etbk) -> None:
    for arguments in (("--help",), ("help", "0x20"), ("help", "PLUGIN-DAMAGED")):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        etbk(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5, arguments


def test_help_reads_standard_input(etbk: Etbk) -> None:
    result = etbk("help", "-", standard_input="x\nBackend XnnpackBackend is not registered.\n")
    assert result.code == 0
    assert "backend-not-registered" in result.out
    assert etbk("help", "-", standard_input=" ").code == 2
    assert etbk("help", "no such thing here").out.startswith("unknown")
