"""Plugins and an application built by hand, with a compiler and the plain headers."""

from __future__ import annotations

from pathlib import Path

import pytest
from consumer_projects import Project, run

PROJECTS = Path(__file__).resolve().parent
MAIN = """
#include <executorch_backend_kit/host.h>
ETBK_STATIC_PLUGINS(plain_c, product);
int run_model(int, char**);
int main(int count, char** values) {
  return etbk_host_register_static(etbk_static_plugins) != 0 ? 3 : run_model(count, values);
}
"""


@pytest.fixture
def include(kit: Path) -> str:
    return f"-I{kit / 'include'}"


@pytest.fixture
def static_plugins(include: str, tmp_path: Path) -> Path:
    """Two plugins, in one archive that the linker is free to take nothing from."""
    static = ["-O1", "-c", "-DETBK_STATIC_PLUGIN", include]
    c_source = PROJECTS / "vendor_c/sum_backend.c"
    run("gcc", "-std=c99", *static, c_source, folder=tmp_path).succeeded()
    cxx_source = PROJECTS / "vendor_product/product_backend.cpp"
    run("g++", "-std=c++17", *static, cxx_source, folder=tmp_path).succeeded()
    archive = tmp_path / "libplugins.a"
    run("ar", "qcs", archive, "sum_backend.o", "product_backend.o", folder=tmp_path).succeeded()
    return archive


def test_static_plugins_without_cmake(
    static_plugins: Path, application: Project, include: str, executorch: Path, model: Path
) -> None:
    folder = static_plugins.parent
    (folder / "main.cpp").write_text(MAIN)
    headers = executorch / "include"
    compile_runner = [
        "-Dmain=run_model",
        f"-I{headers}",
        f"-I{headers}/executorch/runtime/core/portable_type/c10",
        "-DC10_USING_CUSTOM_GENERATED_MACROS",
        "-DET_EVENT_TRACER_ENABLED",
    ]
    source = PROJECTS / "application/run_model.cpp"
    run("g++", "-std=c++17", "-c", *compile_runner, source, folder=folder).succeeded()
    libraries = executorch / "lib"
    run(
        "g++", "-std=c++17", include, "main.cpp", "run_model.o", static_plugins,
        application.build / "libetbk_host.a", f"-L{libraries}", f"-Wl,-rpath,{libraries}",
        "-Wl,--gc-sections", "-lexecutorch", "-Wl,--no-as-needed", "-lexecutorch_threadpool",
        "-lexecutorch_kernels_optimized", "-ldl", "-pthread", "-o", "program",
        folder=folder,
    ).succeeded()  # fmt: skip
    finished = run(folder / "program", model).succeeded()
    assert "backends: SumBackend ProductBackend" in finished.output
    assert "output: 13 13 13 13 13 13" in finished.output


def test_a_shared_plugin_without_cmake(include: str, kit: Path, tmp_path: Path) -> None:
    exports = kit / "share/cmake/ExecuTorchBackendKit/plugin_exports.map"
    source = PROJECTS / "vendor_product/product_backend.cpp"
    run(
        "g++", "-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-gnu-unique",
        include, source, f"-Wl,--version-script={exports}", "-Wl,--gc-sections", "-o", "libp.so",
        folder=tmp_path,
    ).succeeded()  # fmt: skip
    output = run("nm", "-D", "--defined-only", tmp_path / "libp.so").output
    assert [line.split()[-1] for line in output.splitlines()] == ["etbk_plugin_entry"]
    assert "ProductBackend" in run(kit / "bin/etbk-note", tmp_path / "libp.so").succeeded().output
