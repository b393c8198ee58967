"""Fixtures of the consumer tests: the installed kit, two vendors' packages, an application.

What they make is kept in build/sdk-consumers, so that a second run compiles only what changed. The
kit is installed from build/release, or from the build folder that ETBK_TEST_BUILD names.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest
from consumer_projects import REPOSITORY, Project, run

PROJECTS = Path(__file__).resolve().parent
MINIMAL_BACKEND = REPOSITORY / "sdk/examples/minimal_backend.cpp"


@pytest.fixture(scope="session")
def work() -> Path:
    """The folder that everything is made in."""
    folder = REPOSITORY / "build/sdk-consumers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def kit(work: Path) -> Path:
    """The installed kit: a CMake prefix with a folder name of its own, as in a Python package."""
    build = Path(os.environ.get("ETBK_TEST_BUILD", REPOSITORY / "build/release"))
    assert (build / "cmake_install.cmake").is_file(), (
        f"{build} is not built: cmake --preset release && cmake --build --preset release"
    )
    # Under another name first, then moved: nothing may remember where it was installed.
    fresh, prefix = work / "kit.new", work / "site-packages/executorch_backend_kit"
    shutil.rmtree(fresh, ignore_errors=True)
    run("cmake", "--install", build, "--prefix", fresh).succeeded()
    shutil.rmtree(prefix, ignore_errors=True)
    prefix.parent.mkdir(exist_ok=True)
    fresh.rename(prefix)
    return prefix


@pytest.fixture(scope="session")
def executorch() -> Path:
    """The ExecuTorch that is installed for this Python."""
    spec = importlib.util.find_spec("executorch")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


@pytest.fixture(scope="session")
def model(work: Path) -> Path:
    """A program over SumBackend and ProductBackend: six times 13."""
    run(sys.executable, PROJECTS / "export_model.py", work).succeeded()
    return work / "sum_product.pte"


def vendor(name: str, work: Path, kit: Path) -> Project:
    return Project(PROJECTS / f"vendor_{name}", work / f"vendor_{name}", [kit]).made()


@pytest.fixture(scope="session")
def sum_vendor(work: Path, kit: Path) -> Project:
    """A C++ vendor, built."""
    return vendor("sum", work, kit)


@pytest.fixture(scope="session")
def product_vendor(work: Path, kit: Path) -> Project:
    """A vendor that uses neither exceptions nor run-time types, built."""
    return vendor("product", work, kit)


@pytest.fixture(scope="session")
def c_vendor(work: Path, kit: Path) -> Project:
    """A vendor that writes C, built."""
    return vendor("c", work, kit)


@pytest.fixture(scope="session")
def installed(work: Path, sum_vendor: Project, c_vendor: Project) -> Path:
    """The prefix with two vendors' packages, moved after the installation."""
    fresh, prefix = work / "vendors.new", work / "site-packages/vendors"
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(prefix, ignore_errors=True)
    sum_vendor.install(fresh, "--component", "sum")
    c_vendor.install(fresh)
    fresh.rename(prefix)
    return prefix


@pytest.fixture(scope="session")
def application(work: Path, installed: Path, product_vendor: Project, executorch: Path) -> Project:
    """The application, built. It is not told where the kit is: the packages know."""
    return Project(
        PROJECTS / "application",
        work / "application",
        [executorch, installed, product_vendor.build],
        [f"-DMINIMAL_BACKEND_SOURCE={MINIMAL_BACKEND}", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"],
    ).made()
