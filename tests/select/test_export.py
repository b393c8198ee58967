"""`etbk export`: files for several targets, honest, kept when one of them fails, resumable."""

from __future__ import annotations

import hashlib
import io
import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.select.view import render
from harness import Document, Etbk, environment
from rich.console import Console

CNN = Path(__file__).parents[2] / "examples" / "cnn.py"
ETHOS = "cortex-m55-ethos-u55"
SNAPDRAGON = "android-snapdragon-8-gen-3"
ARM = "linux-aarch64"
THREE = ("--target", "linux-x86-64", "--target", "ios", "--target", "android-gpu")


def codes(row: Document) -> list[str]:
    return [finding["code"] for finding in row["findings"]]


def rows(document: Document) -> dict[str, Document]:
    return {row["target"]: row for row in document["files"]}


@pytest.fixture(scope="module")
def folder(etbk: Etbk, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One export for seven targets, three of which must fail in their own ways."""
    import torch

    out = tmp_path_factory.mktemp("out")
    torch.save([(torch.rand(1, 3, 64, 64),)] * 2, out / "data.pt")
    others = ("--target", ETHOS, "--target", "cortex-m4", "--target", SNAPDRAGON, "--target", ARM)
    quantize = ("--quantize", f"{ETHOS}=int8", "--quantize", f"{ARM}=int8")
    inputs = ("--inputs", out / "data.pt")
    done = etbk("export", CNN, *THREE, *others, *quantize, *inputs, "-o", out, QNN_SDK_ROOT="")
    assert done.code == 1, done.err
    (out / "text").write_text(done.out)
    return out


@pytest.fixture
def manifest(folder: Path) -> Document:
    document: Document = json.loads((folder / "manifest.json").read_text())
    return document


def test_three_files_with_their_delegates_and_honest_evidence(
    folder: Path, manifest: Document, validate: Callable[[Document], None]
) -> None:
    validate(manifest)
    made = rows(manifest)
    expected = {"linux-x86-64": "XnnpackBackend", "ios": "CoreMLBackend",
                "android-gpu": "VulkanBackend"}  # fmt: skip
    for target, delegate in expected.items():
        row = made[target]
        assert row["status"] == "made"
        assert [d["id"] for d in row["delegation"]["delegates"]] == [delegate]
        assert row["evidence"]["level"] == "compiled"
        assert "not run" in row["evidence"]["where"]
        content = (folder / row["file"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (row["bytes"], row["sha256"])
    assert made["ios"]["reproducible"] is False
    assert made["linux-x86-64"]["reproducible"] is True


def test_what_lacks_a_package_is_said_and_costs_nothing_else(manifest: Document) -> None:
    row = rows(manifest)[ETHOS]
    if row["status"] == "made" and row["instead_of"] is None:
        pytest.skip("the extra ethos-u is installed here")
    assert "EXPORT-PREREQUISITE-MISSING" in codes(row)
    assert "pip install 'executorch[ethos-u]'" in row["findings"][0]["fix"]


def test_a_backend_that_needs_quantization_is_not_given_a_float_model(manifest: Document) -> None:
    row = rows(manifest)["cortex-m4"]
    assert row["status"] == "failed"
    assert codes(row) == ["EXPORT-QUANTIZATION-REQUIRED"]
    assert "--quantize cortex-m4=int8" in row["findings"][0]["fix"]


def test_an_sdk_that_is_missing_leaves_what_can_be_made(folder: Path, manifest: Document) -> None:
    row = rows(manifest)[SNAPDRAGON]
    assert (row["status"], row["instead_of"], row["chain"][0]) == ("made", "qnn", "vulkan")
    assert codes(row) == ["EXPORT-PREREQUISITE-MISSING"]
    assert "in place of qnn" in (folder / "text").read_text()


def test_quantized_with_data_of_ones_own(manifest: Document) -> None:
    row = rows(manifest)[ARM]
    assert (row["status"], row["file"]) == ("made", "linux-aarch64.xnnpack.int8.pte")
    assert [d["id"] for d in row["delegation"]["delegates"]] == ["XnnpackBackend"]
    assert codes(row) == []
    assert row["sha256"] != rows(manifest)["linux-x86-64"]["sha256"]
    assert manifest["model"]["calibration"]["source"] == "data.pt"


@pytest.mark.parametrize("content", ["no tensors", "a tensor", "a dict"])
def test_calibration_data_that_is_none(content: str, tmp_path: Path) -> None:
    import torch
    from executorch_backend_kit.export.worker import read_inputs

    file = tmp_path / "data.pt"
    if content == "a tensor":
        torch.save(torch.ones(2), file)
        assert [len(s) for s in read_inputs(file)] == [1]
        return
    if content == "a dict":
        torch.save({"x": torch.ones(2)}, file)
    else:
        file.write_text(content)
    with pytest.raises(ModelError, match="CALIBRATION-UNREADABLE"):
        read_inputs(file)


def test_bad_requests_end_before_the_work(etbk: Etbk, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for arguments, code in (
        (("--target", "iphnoe"), "TARGET-UNKNOWN"),
        (("--target", "ios", "--quantize", "android=int8"), "SELECT-CONTRADICTION"),
        (("--target", "ios", "--quantize", "int8", "--quantize", "none"), "SELECT-CONTRADICTION"),
        (("--target", "ios", "--setting", "x=os.system"), "SELECT-OPTION-INVALID"),
    ):
        done = etbk("export", CNN, *arguments, "-o", out)
        assert (done.code, code in done.err) == (2, True), done.err
    assert not out.exists()


def test_a_model_that_does_not_export(etbk: Etbk, tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text(
        "import torch\n"
        "class M(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x if x.sum().item() > 0 else -x\n"
        "def model(): return M()\n"
        "def example_inputs(): return (torch.ones(2),)\n"
    )
    done = etbk("export", model, "--target", "linux-x86-64", "-o", tmp_path / "out")
    assert (done.code, "EXPORT-FAILED" in done.err) == (2, True)


def test_no_space_left(etbk: Etbk, tmp_path: Path) -> None:
    """A limit on file sizes stands in for a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10000, limits[1]))
    try:
        done = etbk("export", CNN, *THREE, "-o", tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.code == 3
    assert "File too large" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_costs_no_other(etbk: Etbk, tmp_path: Path) -> None:
    (tmp_path / "linux-x86-64.xnnpack.pte").mkdir()
    done = etbk("export", CNN, *THREE[:2], *THREE[4:], "-o", tmp_path, "--json")
    assert done.code == 1
    made = rows(done.document)
    assert codes(made["linux-x86-64"]) == ["FILE-NOT-WRITTEN"]
    assert made["android-gpu"]["status"] == "made"


def test_a_folder_that_takes_no_file(etbk: Etbk, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("not a folder")
    done = etbk("export", CNN, "--target", "linux-x86-64", "-o", out)
    assert (done.code, "EXPORT-NOT-WRITTEN" in done.err) == (3, True)
    assert out.read_text() == "not a folder"


def test_interrupted_and_resumed(etbk: Etbk, manifest: Document, tmp_path: Path) -> None:
    """What is there is kept, what is damaged or missing is made again, with the same bytes."""
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    # Without an accelerator and unquantized, a Cortex-M4 gets portable kernels: quick to make.
    order = ("--target", "cortex-m4", "--quantize", "cortex-m4=none", *THREE[:2], *THREE[4:])
    command = [sys.executable, "-m", "executorch_backend_kit", "export", str(CNN), *order]
    process = subprocess.Popen(
        [*command, "-o", str(out)],
        env=environment(ETBK_CACHE=str(tmp_path / "cache"), TMPDIR=str(scratch)),
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 240
    while not list(out.glob("*.pte")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "Traceback" not in said
    assert list(scratch.iterdir()) == []
    assert [p for p in out.iterdir() if p.name.startswith(".")] == []
    left = json.loads((out / "manifest.json").read_text())
    assert {row["status"] for row in left["files"]} <= {"made", "pending"}
    assert "pending" in {row["status"] for row in left["files"]}  # the third waits for a worker
    kept = {file: file.stat().st_mtime_ns for file in out.glob("*.pte")}
    (out / next(r["file"] for r in left["files"] if r["status"] == "pending")).write_text("x")
    done = etbk("export", CNN, *order, "-o", out, "--json")
    assert done.code == 0
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    for target, row in rows(done.document).items():
        assert row["status"] == "made"
        if target != "cortex-m4":
            assert row["sha256"] == rows(manifest)[target]["sha256"]
        assert hashlib.sha256((out / row["file"]).read_bytes()).hexdigest() == row["sha256"]


def test_select_with_a_model_measures_what_backends_take(
    etbk: Etbk, validate: Callable[[Document], None]
) -> None:
    done = etbk("select", CNN, "--target", "android-gpu", "--json")
    validate(done.document)
    coverage = {c["backend"]: c["coverage"] for c in done.document["candidates"]}
    assert coverage["vulkan"]["node_share"] == 1.0
    assert coverage["xnnpack"]["pte_bytes"] > 0
    assert coverage["portable"]["nodes_delegated"] == 0
    console = Console(record=True, file=io.StringIO(), width=200)
    render(done.document, verbose=True, console=console)
    assert "takes 100% of the nodes" in console.export_text()
