"""The vendor's world: an empty folder, the installed packages, and nothing of this repository.

The vendor's repository, the application and the user's scripts are copied into the folder; every
command runs there, with an environment that has the kit and ExecuTorch installed from wheels.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

import pytest
from rfc_world import REPOSITORY, Program, World

HERE = Path(__file__).resolve().parent
OLDER_EXECUTORCH = "1.4.1"


def installed(distribution_name: str, folder: str) -> Path:
    """The folder of an installed package; fails if it is installed from this source tree."""
    path = Path(str(distribution(distribution_name).locate_file(folder))).resolve()
    assert path.is_dir(), f"{distribution_name} is not installed: run scripts/install"
    assert path != REPOSITORY / "python" / folder, "the kit must be installed from its wheel"
    return path


@pytest.fixture(scope="session")
def kit() -> Path:
    """The CMake prefix of the installed kit."""
    return installed("executorch-backend-kit", "executorch_backend_kit")


@pytest.fixture(scope="session")
def executorch() -> Path:
    """The CMake prefix of the installed ExecuTorch."""
    return installed("executorch", "executorch")


@pytest.fixture(scope="session")
def world(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    """The empty folder, with copies of what vendor, application and user wrote."""
    folder = tmp_path_factory.mktemp("rfc")
    for part in ("vendor", "application"):
        shutil.copytree(HERE / part, folder / part)
    for script in (HERE / "user").iterdir():
        shutil.copy(script, folder)
    # An environment of its own, so that the vendor's package can be installed and forgotten.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    site.joinpath("shared.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "ETBK_", "CMAKE", "LD_")) and name != "VIRTUAL_ENV"
    }
    tools = f"{folder / 'venv' / 'bin'}:{Path(sys.executable).parent}"
    environment |= {"PATH": f"{tools}:{environment['PATH']}", "HOME": str(folder)}
    return World(folder, python, environment)


@pytest.fixture(scope="session")
def vendor_wheel(world: World) -> Path:
    """The vendor's wheel, built in the vendor's own repository; the kit is found by itself."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--wheel-dir", "wheels", "./vendor"]
    world.run(*command)
    (wheel,) = (world.folder / "wheels").iterdir()
    return wheel


@pytest.fixture(scope="session")
def vendor(world: World, vendor_wheel: Path) -> Path:
    """The vendor's package, installed: Python package and CMake prefix in one folder."""
    command = [sys.executable, "-m", "pip", "--python", str(world.python), "install", "--no-deps"]
    world.run(*command, "--disable-pip-version-check", "--no-index", str(vendor_wheel))
    output = world.run(
        world.python, "-c", "import acme_executorch_backend as p; print(p.__path__[0])"
    ).stdout
    return Path(output.strip())


@pytest.fixture(scope="session")
def plugin(vendor: Path) -> Path:
    """The vendor's plugin library, as installed."""
    return vendor / "lib" / "libacme_executorch_backend.so"


@pytest.fixture(scope="session")
def program(world: World, vendor: Path) -> Program:
    """The user's model, lowered with the vendor's partitioner."""
    path = world.folder / "model.pte"
    return Program(path, world.script("lower.py", path))


@pytest.fixture(scope="session")
def applications(world: World, kit: Path, executorch: Path, vendor: Path) -> Path:
    """The build folder of the application in all its variants."""
    return world.cmake("application", "application-build", [executorch, kit, vendor])


@pytest.fixture(scope="session")
def older_executorch() -> Path:
    """A folder with an older ExecuTorch for this Python, kept in a cache and not installed."""
    if platform.machine() != "x86_64":
        pytest.skip(f"{OLDER_EXECUTORCH} has no library that serves every Python on this machine")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    cache = Path(base) / "executorch-backend-kit" / "tests"
    target = cache / f"executorch-{OLDER_EXECUTORCH}-{tag}"
    if not target.is_dir():
        scratch = cache / f".new-{os.getpid()}"
        command = [sys.executable, "-m", "pip", "install", "--no-deps", "--only-binary=:all:"]
        command += ["--disable-pip-version-check", "--no-compile", "--target", str(scratch)]
        environment = {k: v for k, v in os.environ.items() if k != "PIP_CONSTRAINT"}
        subprocess.run([*command, f"executorch=={OLDER_EXECUTORCH}"], env=environment, check=True)
        scratch.rename(target)
    return target
