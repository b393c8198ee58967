"""Which libraries a shared library lacks on this machine, and who asks for them.

The dynamic loader itself is asked (`ldd`): it follows run paths, LD_LIBRARY_PATH and its cache as
it will when the library is loaded. Nothing of the library runs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TIME_LIMIT = 10.0
_MISSING = re.compile(r"^\s*(\S+) => not found", re.M)
_FOUND = re.compile(r"^\s*\S+ => (/.+) \(0x[0-9a-f]+\)", re.M)

# Debian's packages of libraries that SDKs need and images often lack.
_PACKAGES = {
    "libc++.so.1": "libc++1",
    "libc++abi.so.1": "libc++abi1",
    "libunwind.so.1": "libunwind-14",
    "libomp.so.5": "libomp5",
    "libatomic.so.1": "libatomic1",
    "libgomp.so.1": "libgomp1",
    "libgfortran.so.5": "libgfortran5",
    "libOpenCL.so.1": "ocl-icd-libopencl1",
    "libvulkan.so.1": "libvulkan1",
    "libtinfo.so.5": "libtinfo5",
    "libxml2.so.2": "libxml2",
    "libusb-1.0.so.0": "libusb-1.0-0",
}


@dataclass(frozen=True)
class Lacking:
    """A library that is not found."""

    name: str
    chain: tuple[str, ...]  # file names, from the one that was asked about to the one that needs it

    @property
    def install(self) -> str:
        """What to do about it."""
        package = _PACKAGES.get(self.name)
        return (
            f"apt-get install {package}"
            if package
            else f"Find the package that brings {self.name}, or add its folder to LD_LIBRARY_PATH."
        )


def lacking(library: Path) -> Iterator[Lacking]:
    """What the library and all that it needs do not find; nothing where that cannot be asked."""
    if sys.platform != "linux" or shutil.which("ldd") is None:
        return
    try:
        said = subprocess.run(
            ["ldd", library], capture_output=True, text=True, timeout=_TIME_LIMIT, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return
    files = [library, *(Path(path) for path in _FOUND.findall(said))]
    for name in dict.fromkeys(_MISSING.findall(said)):
        yield Lacking(name, _chain(library, files, name))


def _chain(library: Path, files: list[Path], name: str) -> tuple[str, ...]:
    """The way from the library to the one that names `name`."""
    chain = [name]
    while chain[-1] != library.name:
        needs = next((f for f in files if f.name not in chain and _names(f, chain[-1])), None)
        if needs is None:
            return (library.name,)
        chain.append(needs.name)
    return tuple(reversed(chain[1:]))


def _names(file: Path, name: str) -> bool:
    """Whether a library's table of strings holds the name of another."""
    with suppress(OSError):
        return b"\0" + name.encode() + b"\0" in file.read_bytes()
    return False
