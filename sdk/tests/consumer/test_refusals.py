"""Each mistake of a vendor or an application stops with a sentence and its cure."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from consumer_projects import Project, run

PROJECTS = Path(__file__).resolve().parent
VENDOR = """
cmake_minimum_required(VERSION 3.28)
project(vendor LANGUAGES CXX)
find_package(ExecuTorchBackendKit CONFIG REQUIRED)
{before}
etbk_add_backend(NAME vendor IDS VendorBackend VENDOR "Vendor" VERSION 1.0.0
  PACKAGE VendorExecuTorchBackend SOURCES backend.cpp {arguments})
"""
BACKEND = """
#include <executorch_backend_kit/backend.hpp>
#include <bits/shared_ptr.h>
namespace {
struct Delegate {
  static constexpr auto info = etbk::Info("VendorBackend");
  explicit Delegate(const etbk::InitContext&) {}
  void execute(const etbk::ExecuteContext&) {}
};
}  // namespace
"""
PLUGIN = 'ETBK_PLUGIN(vendor, "Vendor", "1.0.0", Delegate);\n'
APPLICATION = """
cmake_minimum_required(VERSION 3.28)
project(application LANGUAGES CXX)
{find}
find_package(ExecuTorchBackendKit CONFIG REQUIRED COMPONENTS host)
"""

Make = Callable[..., Project]


@pytest.fixture
def vendor(kit: Path, tmp_path: Path) -> Make:
    """vendor(...): a small vendor's project, with a mistake or without."""

    def make(
        replace: tuple[str, str] = ("", ""),
        arguments: str = "",
        before: str = "",
        source: str = BACKEND + PLUGIN,
        options: Sequence[str] = (),
    ) -> Project:
        folder = tmp_path / "vendor"
        folder.mkdir()
        text = VENDOR.format(arguments=arguments, before=before)
        assert replace[0] in text
        (folder / "CMakeLists.txt").write_text(text.replace(*replace) if replace[0] else text)
        (folder / "backend.cpp").write_text(source)
        return Project(folder, tmp_path / "build", [kit], options)

    return make


@pytest.fixture
def application(kit: Path, tmp_path: Path) -> Make:
    """application(find): a project that asks for the host."""

    def make(find: str = "", prefixes: Sequence[Path] = ()) -> Project:
        folder = tmp_path / "application"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(APPLICATION.format(find=find))
        return Project(folder, tmp_path / "build", [kit, *prefixes])

    return make


def test_the_control_builds(vendor: Make) -> None:
    vendor().made()


@pytest.mark.parametrize(
    ("replace", "by", "sentence"),
    [
        ("IDS VendorBackend", "", "etbk_add_backend: IDS is missing"),
        ("NAME vendor", "NAME Vendor", "NAME 'Vendor' is not [a-z][a-z0-9_]*"),
        ("VERSION 1.0.0", "VERSION 1.0", "VERSION '1.0' is not MAJOR.MINOR.PATCH"),
        ("IDS VendorBackend", 'IDS "no id"', "the id 'no id' is not an identifier"),
        ('"Vendor"', '"A \\"B\\""', "VENDOR must not hold quotes"),
        ("PACKAGE V", "COMPNENTS x PACKAGE V", "unknown arguments: COMPNENTS;x"),
        ("SOURCES", "DESTINATION /usr/lib SOURCES", "DESTINATION '/usr/lib' is absolute"),
        ("SOURCES", "LINK_LIBRARIES /usr/lib/libm.so SOURCES", "is a path of this machine"),
    ],
)
def test_wrong_arguments(vendor: Make, replace: str, by: str, sentence: str) -> None:
    vendor((replace, by)).configure().failed_with(sentence)


def test_a_shared_library_of_the_project_cannot_go_into_the_archive(vendor: Make) -> None:
    before = """add_library(own SHARED backend.cpp)
target_link_libraries(own ExecuTorchBackendKit::plugin)"""
    vendor(arguments="LINK_LIBRARIES own", before=before).configure().failed_with(
        "would need 'own', which only this project has", "or pass NO_STATIC"
    )


@pytest.mark.parametrize(
    ("replace", "by", "sentence"),
    [
        ("VendorBackend", "OtherBackend", "disagree about 'backends': the note in"),
        ("VERSION 1.0.0", "VERSION 1.0.1", "says '1.0.0', etbk_add_backend says '1.0.1'"),
        ("NAME vendor", "NAME other", "disagree about 'name'"),
        ('"Vendor"', '"Another"', "disagree about 'vendor'"),
    ],
)
def test_source_and_build_file_disagree(vendor: Make, replace: str, by: str, sentence: str) -> None:
    project = vendor((replace, by))
    project.configure().succeeded()
    project.compile().failed_with(sentence)
    assert not list(project.build.glob("*.json"))


def test_no_entry(vendor: Make) -> None:
    project = vendor(source=BACKEND)
    project.configure().succeeded()
    project.compile("--target", "vendor_executorch_backend").failed_with("PLUGIN-NOTE-MISSING")
    project.compile("--target", "vendor_executorch_backend_archive").failed_with(
        "The plugin defines no entry"
    )


def test_unique_symbols_in_a_foreign_library(vendor: Make, tmp_path: Path) -> None:
    (tmp_path / "foreign.cpp").write_text(
        "inline int& counter() { static int value = 0; return value; }\n"
        "int count() { return ++counter(); }\n"
    )
    run("g++", "-c", "-fPIC", "foreign.cpp", folder=tmp_path).succeeded()
    run("ar", "qcs", "libforeign.a", "foreign.o", folder=tmp_path).succeeded()
    before = f"""add_library(foreign STATIC IMPORTED)
set_target_properties(foreign PROPERTIES IMPORTED_LOCATION {tmp_path}/libforeign.a)"""
    source = BACKEND + "int count();\nconst int counted = count();\n" + PLUGIN
    project = vendor(arguments="LINK_LIBRARIES foreign", before=before, source=source)
    project.configure().succeeded()
    project.compile().failed_with("u _ZZ7countervE5value", "without -fno-gnu-unique")


def test_a_missing_function_is_found_when_the_plugin_is_linked(vendor: Make) -> None:
    source = BACKEND + "int nowhere();\nconst int value = nowhere();\n" + PLUGIN
    project = vendor(source=source)
    project.configure().succeeded()
    project.compile().failed_with("undefined reference to `nowhere()'")


def test_no_tool_for_this_machine(vendor: Make) -> None:
    project = vendor(options=["-DETBK_NOTE_TOOL=/nowhere/etbk-note"])
    project.configure().succeeded()
    project.compile().failed_with("/nowhere/etbk-note", "-DETBK_NOTE_TOOL=")


def test_a_damaged_kit(kit: Path, vendor: Make, tmp_path: Path) -> None:
    copy = tmp_path / "kit"
    shutil.copytree(kit / "share/cmake", copy / "share/cmake")
    project = vendor()
    Project(project.source, project.build, [copy]).configure().failed_with(
        "the installation is incomplete", "Install the package executorch-backend-kit again"
    )


def test_a_damaged_package(installed: Path, executorch: Path, tmp_path: Path) -> None:
    copy = tmp_path / "site-packages/vendors"
    shutil.copytree(installed, copy)
    (copy / "lib/executorch_backends/libsum_executorch_backend.so").unlink()
    folder = tmp_path / "application"
    folder.mkdir()
    find = "find_package(executorch CONFIG REQUIRED)\nfind_package(SumExecuTorchBackend REQUIRED)"
    (folder / "CMakeLists.txt").write_text(APPLICATION.format(find=find))
    Project(folder, tmp_path / "build", [executorch, copy]).configure().failed_with(
        "the package is incomplete", "libsum_executorch_backend.so is missing"
    )


def test_no_executorch(application: Make) -> None:
    application().configure().failed_with(
        "ExecuTorch was not found before. Add this line above: "
        "find_package(executorch CONFIG REQUIRED)"
    )


def test_no_executorch_for_a_vendors_package(
    application: Make, installed: Path, tmp_path: Path
) -> None:
    find = "find_package(SumExecuTorchBackend CONFIG REQUIRED)"
    application(find, [installed]).configure().failed_with(
        "Add this line above: find_package(executorch CONFIG REQUIRED)"
    )


def test_an_unknown_component(application: Make) -> None:
    find = "find_package(ExecuTorchBackendKit CONFIG REQUIRED COMPONENTS pet)"
    application(find).configure().failed_with("it has no component 'pet'")


@pytest.mark.parametrize("release", ["9.9.9", "1.0.1", "1.6.0a0+abc", "nonsense"])
def test_an_unknown_release(application: Make, release: str) -> None:
    find = f"""add_library(executorch::runtime INTERFACE IMPORTED)
set(EXECUTORCH_BUILD_VERSION {release})"""
    application(find).configure().failed_with(
        f"ExecuTorch {release} is not a release that this kit", "ETBK_ALLOW_UNKNOWN_EXECUTORCH=ON"
    )


def test_a_release_that_is_not_told(application: Make) -> None:
    find = "add_library(executorch_core INTERFACE IMPORTED)"
    application(find).configure().failed_with(
        "does not tell its release", "set(ETBK_EXECUTORCH_VERSION 1.5.1)"
    )


def test_a_wheel_without_a_runtime_library(application: Make) -> None:
    find = "set(EXECUTORCH_FOUND ON)\nadd_library(_portable_lib STATIC IMPORTED)"
    application(find).configure().failed_with("no C++ runtime library to link", "executorch 1.5")


def test_a_project_without_cxx(application: Make) -> None:
    project = application("add_library(executorch::runtime INTERFACE IMPORTED)\n"
                          "set(EXECUTORCH_BUILD_VERSION 1.5.1)")  # fmt: skip
    file = project.source / "CMakeLists.txt"
    file.write_text(re.sub("LANGUAGES CXX", "LANGUAGES C", file.read_text()))
    project.configure().failed_with("add CXX to the LANGUAGES of project()")
