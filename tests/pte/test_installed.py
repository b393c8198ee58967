"""What the wheel brings of the .pte library: the prebuilt one, the sources, the CMake target."""

from __future__ import annotations

import subprocess
from pathlib import Path

import executorch_backend_kit
from executorch_backend_kit.pte import payload_hash

INSTALLED = Path(executorch_backend_kit.__file__).parent
MAIN = """\
#include <executorch_backend_kit/pte.h>
#include <cstdio>

int main(int, char** arguments) {
  EtbkPte* const file = etbk_pte_open(arguments[1], nullptr);
  char* const report = etbk_pte_verify(file, nullptr, nullptr);
  std::puts(report);
  etbk_pte_free(report);
  etbk_pte_close(file);
}
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.28)
project(application LANGUAGES C CXX)
find_package(ExecuTorchBackendKit CONFIG REQUIRED)
add_executable(application main.cpp)
target_link_libraries(application PRIVATE ExecuTorchBackendKit::pte)
"""


def test_the_library_needs_and_shows_nothing_else() -> None:
    library = INSTALLED / "lib" / "libetbk_pte.so"
    dynamic = subprocess.run(
        ["readelf", "-d", "-W", library], capture_output=True, text=True, check=True
    ).stdout
    needed = {line.split("[")[1].split("]")[0] for line in dynamic.splitlines() if "NEEDED" in line}
    assert needed <= {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"}
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout
    assert all(line.split()[-1].startswith("etbk_pte_") for line in symbols.splitlines())
    assert payload_hash(b"a") == 0xE6C632B61E964E1F


def test_an_application_compiles_it_from_source(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(MAIN)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    build = tmp_path / "build"
    prefix = f"-DCMAKE_PREFIX_PATH={INSTALLED}"
    commands: tuple[list[str | Path], ...] = (
        ["cmake", "-S", tmp_path, "-B", build, prefix, "-G", "Ninja"],
        ["cmake", "--build", build],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    program = Path(__file__).parent / "programs" / "cond.pte"
    result = subprocess.run(
        [build / "application", program], capture_output=True, text=True, check=True
    )
    assert '"accepted":true' in result.stdout
