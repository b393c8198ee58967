"""What etbk_add_backend leaves in the files it makes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from consumer_projects import Project, run

VENDORS = ["sum", "product", "plain_c"]


@pytest.fixture
def builds(sum_vendor: Project, product_vendor: Project, c_vendor: Project) -> dict[str, Path]:
    return {
        "sum": sum_vendor.build,
        "product": product_vendor.build,
        "plain_c": c_vendor.build,
    }


@pytest.fixture(params=VENDORS)
def library(request: pytest.FixtureRequest, builds: dict[str, Path]) -> Path:
    return builds[request.param] / f"lib{request.param}_executorch_backend.so"


@pytest.fixture(params=VENDORS)
def archive(request: pytest.FixtureRequest, builds: dict[str, Path]) -> Path:
    name = request.param
    return builds[name] / f"etbk/{name}/Release/lib{name}_executorch_backend.a"


def test_the_library_exports_its_entry_only(library: Path) -> None:
    output = run("nm", "-D", "--defined-only", library).succeeded().output
    assert [line.split()[-1] for line in output.splitlines()] == ["etbk_plugin_entry"]


def test_the_library_has_no_unique_symbol(library: Path) -> None:
    assert "UNIQUE" not in run("readelf", "-sW", library).succeeded().output


def test_the_library_needs_nothing_of_executorch_and_no_folder(library: Path) -> None:
    output = run("readelf", "-dW", library).succeeded().output
    assert "libexecutorch" not in output
    assert "RPATH" not in output
    assert "RUNPATH" not in output
    needed = re.findall(r"NEEDED.*\[(.*)\]", output)
    assert set(needed) <= {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"}


def test_the_archive_defines_its_entry_only(archive: Path) -> None:
    output = run("nm", "-g", "--defined-only", archive).succeeded().output
    symbols = [line.split() for line in output.splitlines() if line and not line.endswith(":")]
    entry = archive.stem.removeprefix("lib").removesuffix("_executorch_backend")
    assert [symbol[1:] for symbol in symbols] == [["T", f"etbk_plugin_entry_{entry}"]]


def test_the_note_survives_strip(library: Path, kit: Path, tmp_path: Path) -> None:
    bare = tmp_path / library.name
    run("strip", "--strip-all", "-o", bare, library).succeeded()
    run("strip", "--strip-unneeded", "--remove-section=.comment", bare).succeeded()
    before, after = (
        json.loads(run(kit / "bin/etbk-note", "--json", file).succeeded().output)
        for file in (library, bare)
    )
    assert before["backends"] == after["backends"]
    assert {**before, "file": ""} == {**after, "file": ""}


def test_the_manifest_says_what_was_asked_for(builds: dict[str, Path]) -> None:
    manifest = json.loads((builds["sum"] / "libsum_executorch_backend.json").read_text())
    assert manifest["schema"] == "etbk.manifest/1"
    assert manifest["name"] == "sum"
    assert manifest["vendor"] == "Sum & Sons, Ltd."
    assert manifest["version"] == "1.2.0"
    assert manifest["backends"] == ["SumBackend"]
    assert manifest["library"] == "libsum_executorch_backend.so"


def test_an_installed_package_can_be_moved(installed: Path, work: Path, kit: Path) -> None:
    files = sorted(path for path in installed.rglob("*") if path.suffix in {".cmake", ".json"})
    assert {path.name for path in files} >= {
        "SumExecuTorchBackendConfig.cmake",
        "SumExecuTorchBackendConfigVersion.cmake",
        "libsum_executorch_backend.json",
    }
    for path in files:
        text = path.read_text()
        assert str(work.parent.parent) not in text
        assert not re.search(r'["; ]/(usr|opt|home|root|tmp|work)/', text), path
    package = kit / "share/cmake/ExecuTorchBackendKit"
    for path in package.iterdir():
        assert str(work.parent.parent) not in path.read_text()


def test_a_plugin_is_small(library: Path, tmp_path: Path) -> None:
    bare = tmp_path / library.name
    shutil.copy(library, bare)
    run("strip", bare).succeeded()
    assert bare.stat().st_size < 60_000
