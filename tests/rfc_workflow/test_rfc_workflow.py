"""The ten steps that the RFC for out-of-tree backends asks for, each as a test named after it.

https://github.com/pytorch/executorch/issues/20975
"""

from __future__ import annotations

import base64
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from rfc_world import REPOSITORY, Program, World, sha256

INPUT_A, INPUT_B = [0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]
EXPECTED = [(a * b + a) - b for a, b in zip(INPUT_A, INPUT_B, strict=True)]
NOT_FOUND = "error 0x20"
INCOMPATIBLE = 0x30


def readelf(option: str, file: Path) -> str:
    return subprocess.run(
        ["readelf", "-W", option, str(file)], check=True, capture_output=True, text=True
    ).stdout


def needed(file: Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", file))


# Steps 1 to 3: ahead of time


def test_step_01_implement_a_simple_external_partitioner(program: Program) -> None:
    """The partitioner lies in the vendor's package; ExecuTorch's own call uses it."""
    assert program.report["delegates"] == ["AcmeBackend"]
    assert program.report["operators"] == ["aten::sub"], "what it refuses stays outside"


def test_step_02_implement_external_backend_preprocessing(program: Program) -> None:
    """The vendor's bytes reach the file as they were made: a * b, then + a."""
    (blob,) = program.report["blobs"]
    words = struct.unpack("<4s11I", base64.b64decode(blob))
    assert words == (b"ACME", 1, 2, 2, 1, *(2, 0, 1), *(1, 2, 0), 3)


def test_step_03_generate_a_pte_with_a_delegated_subgraph(program: Program) -> None:
    data = program.path.read_bytes()
    assert data[4:8] == b"ET12"
    assert b"AcmeBackend\0" in data


# Steps 4 and 5: the runtime half, elsewhere


def test_step_04_implement_the_runtime_backend_in_a_separate_repository(
    world: World, kit: Path, plugin: Path
) -> None:
    """Built outside, from the installed kit alone; needs nothing of ExecuTorch or the kit."""
    system = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux-[\w-]+)\.so\.\d+")
    assert [name for name in needed(plugin) if not system.fullmatch(name)] == []
    symbols = readelf("--dyn-syms", plugin)
    assert "executorch" not in symbols.replace("etbk", "")
    exported = [
        row.split()[7]
        for row in symbols.splitlines()
        if re.search(r"(GLOBAL|WEAK|UNIQUE) +DEFAULT +\d+ ", row)
    ]
    assert exported == ["etbk_plugin_entry"]
    assert "RPATH" not in readelf("-d", plugin)
    assert "RUNPATH" not in readelf("-d", plugin)


def test_step_04_has_no_access_to_the_source_tree(
    world: World, kit: Path, executorch: Path, vendor: Path
) -> None:
    """Every file that compiling read lies in the vendor's world or in an installed package."""
    build = world.cmake("vendor/runtime", "runtime-build", [kit])
    read = world.run("ninja", "-C", build, "-t", "deps").stdout
    files = {Path(line.strip()).resolve() for line in read.splitlines() if line.startswith("    /")}
    assert kit / "include" / "executorch_backend_kit" / "plugin.h" in files
    allowed = (kit, executorch, world.folder.resolve())
    foreign = [f for f in files if f.is_relative_to(REPOSITORY) and not within(f, allowed)]
    assert foreign == []
    assert not [file for file in files if file.is_relative_to(executorch)]


def within(file: Path, folders: tuple[Path, ...]) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)


def test_step_05_register_the_backend_without_modifying_executorch(
    world: World, executorch: Path, vendor: Path, program: Program
) -> None:
    libraries = sorted(executorch.rglob("*.so*"))
    before = [sha256(file) for file in libraries]
    report = world.script("run.py", program.path)
    assert "AcmeBackend" in report["registered"], "in the list that the runtime itself reads"
    assert [sha256(file) for file in libraries] == before


# Steps 6 and 7: an application


def test_step_06_build_an_application_with_the_installed_packages(applications: Path) -> None:
    """The application's CMakeLists names two packages, as the RFC writes it, and no third."""
    text = (applications.parent / "application" / "CMakeLists.txt").read_text()
    assert re.findall(r"^find_package\((.*)\)$", text, re.M) == [
        "executorch CONFIG REQUIRED",
        "AcmeExecuTorchBackend CONFIG REQUIRED",
    ]
    assert (applications / "shared").is_file()


@pytest.mark.parametrize("variant", ["shared", "static", "dlopen"])
def test_step_07_load_and_execute_through_the_standard_runtime(
    world: World, applications: Path, program: Program, variant: str
) -> None:
    output = world.run(applications / variant, program.path).stdout
    assert [float(word) for word in output.split()] == EXPECTED


def test_step_07_load_and_execute_in_python(world: World, vendor: Path, program: Program) -> None:
    report = world.script("run.py", program.path)
    assert report["result"] == EXPECTED
    assert report["executorch"].startswith("1.5.")


# Step 8: versions


def test_step_08_one_plugin_binary_serves_several_executorch_releases(
    world: World, plugin: Path, program: Program, older_executorch: Path
) -> None:
    now = world.script("run.py", program.path)
    older = world.script("run.py", program.path, variables={"PYTHONPATH": str(older_executorch)})
    assert (now["executorch"][:4], older["executorch"][:4]) == ("1.5.", "1.4.")
    assert now["result"] == older["result"] == EXPECTED
    assert now["sha256"]["acme"] == older["sha256"]["acme"] == sha256(plugin)


def test_step_08_a_blob_of_another_format_is_refused_with_the_reason(
    world: World, vendor: Path, applications: Path
) -> None:
    path = world.folder / "newer.pte"
    world.script("lower.py", path, '{"blob_format": 2}')
    report = world.script("run.py", path)
    assert report["error"].endswith(f"0x:{INCOMPATIBLE:x}")
    assert "the blob has format 2 and AcmeBackend reads format 1" in report["reason"]
    assert "export the model again" in report["reason"]
    # An application sees ExecuTorch's code, and the sentence in the log.
    result = world.run(applications / "shared", path, check=False)
    assert result.stdout.strip() == f"error {INCOMPATIBLE:#x}"
    assert "the blob has format 2" in result.stderr


@pytest.mark.parametrize(("minor", "code"), [(99, "PLUGIN-ABI-TOO-NEW"), (8, "PLUGIN-ABI-TOO-OLD")])
def test_step_08_a_plugin_for_another_abi_is_refused_by_name(
    world: World, kit: Path, minor: int, code: str
) -> None:
    """The plugin is built with a kit of another ABI version, whose headers are edited here."""
    other_kit = copy(world, kit, f"kit-{minor}")
    headers = other_kit / "include" / "executorch_backend_kit"
    edit(headers / "plugin.h", r"(#define ETBK_ABI_MINOR) \d+u$", rf"\1 {minor}u")
    edit(headers / "backend.hpp", r"(#define ETBK_ABI_MINOR_NEEDED) \d+u$", rf"\1 {minor}u")
    build = world.cmake("vendor/runtime", f"plugin-{minor}", [other_kit])
    report = world.script("load.py", build / "libacme_executorch_backend.so")
    assert report["plugin"]["outcome"] == "refused"
    (finding,) = report["plugin"]["findings"]
    assert finding["code"] == code
    assert f"0.{minor}" in finding["message"]
    assert "0.9" in finding["message"], "both versions are named"
    assert finding["fix"]
    assert "AcmeBackend" not in report["registered"]


def copy(world: World, folder: Path, name: str) -> Path:
    world.run("cp", "-r", folder, name)
    return world.folder / name


def edit(file: Path, pattern: str, replacement: str) -> None:
    text, count = re.subn(pattern, replacement, file.read_text(), flags=re.M)
    assert count == 1, f"{pattern} is in {file.name} {count} times"
    file.write_text(text)


def test_step_08_an_executorch_outside_the_declared_range_is_refused(
    world: World, vendor: Path
) -> None:
    other = copy(world, vendor.parent / "acme_executorch_backend", "acme_executorch_backend")
    edit(other / "descriptor.py", '">=1.4,<1.6"', '">=1.6,<2"')
    report = world.script("discover.py", variables={"PYTHONPATH": str(world.folder)})
    assert report["acme"]["usable"] is False
    assert ">=1.6,<2" in report["acme"]["reason"]
    assert "1.5." in report["acme"]["reason"]
    shutil.rmtree(other)
    assert world.script("discover.py")["acme"]["usable"] is True


# Step 9: dead stripping


@pytest.mark.parametrize("control", ["stripped_shared", "stripped_static"])
def test_step_09_a_library_named_as_a_plain_file_is_stripped(
    world: World, applications: Path, program: Program, control: str
) -> None:
    """The control: without the kit's targets both link without a word, and fail when run."""
    result = world.run(applications / control, program.path, check=False)
    assert result.stdout.strip() == NOT_FOUND
    assert "libacme_executorch_backend.so" not in needed(applications / control)
    assert b"id=AcmeBackend\n" not in (applications / control).read_bytes()


def test_step_09_the_targets_survive_the_linker(applications: Path) -> None:
    assert "libacme_executorch_backend.so" in needed(applications / "shared")
    assert b"id=AcmeBackend\n" in (applications / "static").read_bytes()
    assert "libacme_executorch_backend.so" not in needed(applications / "static")
    commands = (applications / "build.ninja").read_text()
    assert "-Wl,--as-needed" in commands
    assert "-Wl,--gc-sections" in commands
    assert "whole-archive" not in commands


# Step 10: documentation


def test_step_10_document_the_differences_from_an_in_tree_backend() -> None:
    """The page exists, and what it says of each difference is one of the steps above."""
    page = (REPOSITORY / "docs" / "vendors" / "in-tree-differences.md").read_text()
    steps = set(re.findall(r"\d+", " ".join(re.findall(r"\bsteps? ([\d, ]+)", page))))
    assert steps == {str(number) for number in range(1, 10)}
