"""Other compilers, linkers, machines, generators and names of the runtime."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from consumer_projects import Project, run

PROJECTS = Path(__file__).resolve().parent


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def exported(library: Path, nm: str = "nm") -> list[str]:
    output = run(nm, "-D", "--defined-only", library).succeeded().output
    return [line.split()[-1] for line in output.splitlines()]


def defined(archive: Path, nm: str = "nm") -> list[str]:
    output = run(nm, "-g", "--defined-only", archive).succeeded().output
    return [line.split()[-1] for line in output.splitlines() if len(line.split()) == 3]


def test_clang(kit: Path, tmp_path: Path) -> None:
    needs("clang-14", "clang++-14")
    options = ["-DCMAKE_C_COMPILER=clang-14", "-DCMAKE_CXX_COMPILER=clang++-14"]
    project = Project(PROJECTS / "vendor_sum", tmp_path, [kit], options).made()
    assert exported(tmp_path / "libsum_executorch_backend.so") == ["etbk_plugin_entry"]
    archive = project.build / "etbk/sum/Release/libsum_executorch_backend.a"
    assert defined(archive) == ["etbk_plugin_entry_sum"]


def test_lld_cannot_localize_and_says_so(kit: Path, tmp_path: Path) -> None:
    needs("ld.lld-14")
    tools = tmp_path / "tools"
    tools.mkdir()
    lld = shutil.which("ld.lld-14")
    assert lld is not None
    (tools / "ld.lld").symlink_to(lld)
    options = [f"-DCMAKE_{kind}_LINKER_FLAGS=-fuse-ld=lld -B{tools}" for kind in ("EXE", "SHARED")]
    project = Project(PROJECTS / "vendor_product", tmp_path / "build", [kit], options)
    output = " ".join(project.configure().succeeded().output.split())
    assert "The static plugin 'product' is a plain archive" in output
    assert "Keeping them apart is done by a linker with --force-group-allocation" in output
    project.compile().succeeded()
    archive = project.build / "etbk/product/Release/libproduct_executorch_backend.a"
    names = defined(archive)
    assert "etbk_plugin_entry_product" in names
    assert "etbk_plugin_entry" not in names
    assert exported(project.build / "libproduct_executorch_backend.so") == ["etbk_plugin_entry"]


def test_the_plain_archive_takes_no_static_library(kit: Path, tmp_path: Path) -> None:
    options = ["-DETBK_LINKER_DISSOLVES_GROUPS=OFF"]
    Project(PROJECTS / "vendor_sum", tmp_path, [kit], options).configure().failed_with(
        "The static library arithmetic cannot be put into the plain archive of 'sum'",
        "Make it an OBJECT library, or pass NO_STATIC",
    )


def test_link_time_optimization(kit: Path, tmp_path: Path) -> None:
    options = ["-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON"]
    project = Project(PROJECTS / "vendor_sum", tmp_path, [kit], options).made()
    assert exported(tmp_path / "libsum_executorch_backend.so") == ["etbk_plugin_entry"]
    archive = project.build / "etbk/sum/Release/libsum_executorch_backend.a"
    assert defined(archive) == ["etbk_plugin_entry_sum"]


def test_another_machine(kit: Path, tmp_path: Path) -> None:
    """etbk-note runs on the machine that builds and reads the library of the other."""
    needs("aarch64-linux-gnu-g++")
    options = [
        "-DCMAKE_SYSTEM_NAME=Linux",
        "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc",
        "-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++",
    ]
    project = Project(PROJECTS / "vendor_sum", tmp_path, [kit], options).made()
    library = tmp_path / "libsum_executorch_backend.so"
    assert "AArch64" in run("readelf", "-h", library).output
    assert exported(library, "aarch64-linux-gnu-nm") == ["etbk_plugin_entry"]
    archive = project.build / "etbk/sum/Release/libsum_executorch_backend.a"
    assert defined(archive, "aarch64-linux-gnu-nm") == ["etbk_plugin_entry_sum"]
    manifest = json.loads(library.with_suffix(".json").read_text())
    assert manifest["backends"] == ["SumBackend"]


def test_makefiles(kit: Path, tmp_path: Path) -> None:
    needs("make")
    Project(PROJECTS / "vendor_c", tmp_path, [kit], generator="Unix Makefiles").made()
    assert exported(tmp_path / "libplain_c_executorch_backend.so") == ["etbk_plugin_entry"]


def test_several_configurations(kit: Path, tmp_path: Path) -> None:
    build = tmp_path / "build"
    project = Project(PROJECTS / "vendor_product", build, [kit], generator="Ninja Multi-Config")
    project.configure().succeeded()
    for configuration in ("Debug", "Release"):
        project.compile("--config", configuration).succeeded()
        prefix = tmp_path / configuration
        project.install(prefix, "--config", configuration)
        library = prefix / "lib/executorch_backends/libproduct_executorch_backend.so"
        assert exported(library) == ["etbk_plugin_entry"]
        assert defined(prefix / "lib/libproduct_executorch_backend.a") == [
            "etbk_plugin_entry_product"
        ]
        package = (prefix / "lib/cmake/ProductExecuTorchBackend").iterdir()
        assert len(list(package)) == 2


def test_no_static_plugin(kit: Path, tmp_path: Path) -> None:
    folder = tmp_path / "vendor"
    shutil.copytree(PROJECTS / "vendor_product", folder)
    file = folder / "CMakeLists.txt"
    file.write_text(file.read_text().replace("SOURCES", "NO_STATIC DESTINATION lib SOURCES"))
    project = Project(folder, tmp_path / "build", [kit]).made()
    project.install(tmp_path / "prefix")
    names = {path.name for path in (tmp_path / "prefix/lib").iterdir()}
    assert names == {
        "cmake",
        "libproduct_executorch_backend.json",
        "libproduct_executorch_backend.so",
    }


def test_a_source_build_of_executorch(kit: Path, executorch: Path, tmp_path: Path) -> None:
    """Its targets have bare names. Here they stand for the wheel's library."""
    folder = tmp_path / "application"
    folder.mkdir()
    headers = executorch / "include"
    (folder / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.28)
project(application LANGUAGES CXX)
add_library(executorch_core SHARED IMPORTED)
set_target_properties(executorch_core PROPERTIES IMPORTED_LOCATION
  {executorch / "lib/libexecutorch.so"})
target_include_directories(executorch_core INTERFACE {headers}
  {headers}/executorch/runtime/core/portable_type/c10)
target_compile_definitions(executorch_core INTERFACE C10_USING_CUSTOM_GENERATED_MACROS)
set(ETBK_EXECUTORCH_VERSION 1.5.1)
find_package(ExecuTorchBackendKit CONFIG REQUIRED COMPONENTS host)
get_target_property(libraries ExecuTorchBackendKit::host LINK_LIBRARIES)
message(STATUS "host links: ${{libraries}}")
add_library(adapter OBJECT {kit}/share/executorch_backend_kit/src/adapter.cpp)
target_include_directories(adapter PRIVATE {kit}/include)
target_compile_definitions(adapter PRIVATE ETBK_EXECUTORCH_VERSION="1.5.1")
target_link_libraries(adapter PRIVATE executorch_core)
""")
    project = Project(folder, tmp_path / "build", [kit], ["-DCMAKE_CXX_FLAGS_RELEASE=-O0"])
    assert "host links: executorch_core;" in project.configure().succeeded().output
    project.compile("--target", "adapter").succeeded()


def test_bare_metal(kit: Path, executorch: Path, tmp_path: Path) -> None:
    """No shared libraries: the package has the static plugin alone."""
    build = tmp_path / "build"
    options = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
    project = Project(PROJECTS / "vendor_c", build, [kit], options).made()
    prefix = tmp_path / "prefix"
    project.install(prefix)
    assert {path.name for path in (prefix / "lib").iterdir()} == {
        "cmake",
        "libplain_c_executorch_backend.a",
    }
    assert defined(prefix / "lib/libplain_c_executorch_backend.a") == ["etbk_plugin_entry_plain_c"]
    folder = tmp_path / "application"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.28)
project(application LANGUAGES CXX)
find_package(executorch CONFIG REQUIRED)
find_package(PlainCExecuTorchBackend CONFIG REQUIRED)
if(NOT TARGET PlainCExecuTorchBackend::Backend_static OR TARGET PlainCExecuTorchBackend::Backend)
  message(FATAL_ERROR "wrong targets")
endif()
""")
    Project(folder, tmp_path / "app", [executorch, kit, prefix]).configure().succeeded()
