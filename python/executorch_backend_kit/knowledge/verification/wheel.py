"""What the installed executorch wheel itself declares."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from importlib import metadata, util
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

_EXTRA = re.compile(r"extra == ['\"]([\w-]+)['\"]")
_PROJECT = """\
cmake_minimum_required(VERSION 3.28)
project(components LANGUAGES C CXX)
find_package(executorch CONFIG REQUIRED)
get_property(names DIRECTORY PROPERTY IMPORTED_TARGETS)
message(STATUS "components: ${names}")
"""


def extras() -> dict[tuple[str, str], str]:
    """The version range of each package of each extra: {("vgf", "tosa-tools"): "==2026.5.0"}."""
    ranges: dict[tuple[str, str], str] = {}
    try:
        texts = metadata.requires("executorch") or ()
    except metadata.PackageNotFoundError:
        return {}
    for text in texts:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        found = _EXTRA.search(str(requirement.marker or ""))
        if found:
            package = canonicalize_name(requirement.name)
            ranges[canonicalize_name(found[1]), package] = str(requirement.specifier)
    return ranges


def components() -> frozenset[str] | None:
    """The CMake targets that the wheel's package offers; None where CMake cannot say."""
    cmake = shutil.which("cmake")
    spec = util.find_spec("executorch")
    if cmake is None or spec is None or not spec.submodule_search_locations:
        return None
    prefix = Path(next(iter(spec.submodule_search_locations))) / "share" / "cmake"
    with tempfile.TemporaryDirectory(prefix="etbk-components-") as folder:
        Path(folder, "CMakeLists.txt").write_text(_PROJECT, encoding="utf-8")
        done = subprocess.run(
            [cmake, "-S", folder, "-B", f"{folder}/build", f"-DCMAKE_PREFIX_PATH={prefix}"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    found = re.search(r"components: (.*)", done.stdout)
    return frozenset(found[1].split(";")) if done.returncode == 0 and found else None
