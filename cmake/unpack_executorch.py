"""Unpacks the headers and runtime libraries of a pinned ExecuTorch wheel, for the build.

The kit is compiled against two ExecuTorch releases and depends on neither: installing them would
pull dozens of packages. This script downloads a wheel with pip, which checks its hash and follows
the user's index settings, and unpacks what a compiler and a linker need into a cache. A cached
copy is checked against the wheel's own RECORD each time. Standard library only.

    unpack_executorch.py executorch-1.5.txt x86_64      prints the folder

ETBK_EXECUTORCH_WHEELS=DIR takes the wheels from a folder instead of an index.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

# The registry of release 1.4 lives in its Qualcomm library; from 1.5 on there is a lib folder.
LIBRARIES = (
    "executorch/lib/libexecutorch.so",
    "executorch/lib/libexecutorch_etdump.so",
    "executorch/lib/libexecutorch_threadpool.so",
    "executorch/backends/qualcomm/libqnn_executorch_backend.so",
)
HEADERS = "executorch/include/"


class UnpackError(Exception):
    """A sentence for the person who builds."""


def is_wanted(name: str) -> bool:
    wanted = name in LIBRARIES or name.startswith(HEADERS)
    return wanted and not name.endswith("/")


def pinned_version(requirement: Path) -> str:
    match = re.search(r"^executorch==(\S+)", requirement.read_text(), re.MULTILINE)
    if match is None:
        raise UnpackError(f"{requirement} names no executorch release")
    return match.group(1)


def cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "executorch-backend-kit" / "executorch"


def download(requirement: Path, architecture: str, folder: Path) -> Path:
    """Lets pip fetch the wheel; pip refuses a file whose hash is not in `requirement`."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", str(folder)]
    command += ["--platform", f"manylinux_2_28_{architecture}", "--implementation", "cp"]
    command += ["--python-version", "3.11", "--abi", "cp311", "--requirement", str(requirement)]
    offline = os.environ.get("ETBK_EXECUTORCH_WHEELS")
    if offline:
        command += ["--no-index", "--find-links", offline]
    # Constraints of the person's own installation have no say in what the build compiles against.
    environment = {key: value for key, value in os.environ.items() if key != "PIP_CONSTRAINT"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("executorch-*.whl"))
    if result.returncode != 0 or len(wheels) != 1:
        source = f"the folder {offline} (ETBK_EXECUTORCH_WHEELS)" if offline else "pip's index"
        raise UnpackError(
            f"the ExecuTorch wheel of {requirement.name} for {architecture} could not be had from "
            f"{source}.\n{result.stderr.strip()}\nWithout a network, put the wheel into a folder "
            "and set ETBK_EXECUTORCH_WHEELS to it."
        )
    return wheels[0]


def parse_record(text: str) -> dict[str, str]:
    """Maps each wanted file to its SHA-256, as written in a wheel's RECORD."""
    rows = csv.reader(io.StringIO(text))
    return {row[0]: row[1].removeprefix("sha256=") for row in rows if is_wanted(row[0])}


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def is_intact(folder: Path) -> bool:
    record = folder / "RECORD"
    if not record.is_file():
        return False
    expected = parse_record(record.read_text())
    for name, value in expected.items():
        file = folder / name
        if not file.is_file() or digest(file.read_bytes()) != value:
            return False
    return bool(expected)


def unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        for name in filter(is_wanted, names):
            if ".." in PurePosixPath(name).parts:
                raise UnpackError(f"{wheel.name} contains the unsafe path {name}")
            archive.extract(name, folder)
        (folder / "RECORD").write_bytes(archive.read(record))
    if not is_intact(folder):
        raise UnpackError(f"{wheel.name} does not agree with its own RECORD")


def provide(requirement: Path, architecture: str) -> Path:
    """Returns the folder that holds `executorch/include` and the libraries."""
    key = hashlib.sha256(requirement.read_bytes()).hexdigest()[:12]
    target = cache_root() / f"{pinned_version(requirement)}-{architecture}-{key}"
    if is_intact(target):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpack-") as scratch:
        fresh = Path(scratch) / "tree"
        unpack(download(requirement, architecture, Path(scratch)), fresh)
        if target.exists():
            damaged = Path(scratch) / "damaged"
            target.rename(damaged)
        try:
            fresh.rename(target)
        except OSError:
            # Another build was faster; its copy must be as good as ours.
            if not is_intact(target):
                raise
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: unpack_executorch.py REQUIREMENT_FILE ARCHITECTURE", file=sys.stderr)
        return 2
    try:
        print(provide(Path(arguments[0]), arguments[1]))
    except (UnpackError, OSError, zipfile.BadZipFile) as error:
        print(f"unpack_executorch: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
