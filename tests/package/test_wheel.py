"""What the wheel holds: everything a vendor and an application need, and no second runtime."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile
from datetime import datetime, timezone
from email.parser import Parser
from pathlib import Path

import pytest

PACKAGE = "executorch_backend_kit"
HEADERS = ("plugin.h", "host.h", "host.hpp", "backend.hpp")


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def libraries(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and is_elf(file))


def is_elf(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def metadata(unpacked: Path, name: str) -> str:
    (file,) = unpacked.glob(f"*.dist-info/{name}")
    return file.read_text()


def test_tag_serves_every_python(wheel: Path, unpacked: Path) -> None:
    assert re.fullmatch(r"executorch_backend_kit-[\d.]+-py3-none-[a-z0-9_]+\.whl", wheel.name)
    wheel_fields = Parser().parsestr(metadata(unpacked, "WHEEL"))
    assert wheel_fields["Root-Is-Purelib"] == "false"
    assert wheel_fields["Tag"].startswith("py3-none-")


def test_record_lists_every_file_with_its_hash(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (record,) = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        rows = {row[0]: row[1] for row in csv.reader(archive.read(record).decode().splitlines())}
        files = [name for name in archive.namelist() if not name.endswith("/")]
        assert sorted(files) == sorted(rows)
        for name in files:
            if name == record:
                continue
            digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest())
            assert rows[name] == "sha256=" + digest.rstrip(b"=").decode(), name


def test_headers_tool_and_cmake_package_are_there(unpacked: Path) -> None:
    package = unpacked / PACKAGE
    for header in HEADERS:
        assert (package / "include" / PACKAGE / header).is_file(), header
    assert (package / "bin" / "etbk-note").is_file()
    assert (package / "bin" / "etbk-run").is_file()
    assert (package / "share/cmake/ExecuTorchBackendKit/ExecuTorchBackendKitConfig.cmake").is_file()
    assert (package / "py.typed").is_file()


def test_host_sources_are_those_of_the_checkout(unpacked: Path) -> None:
    repository = Path(__file__).resolve().parents[2]
    shipped = unpacked / PACKAGE / "share" / PACKAGE / "src"
    names = [file.relative_to(shipped) for file in shipped.rglob("*") if file.is_file()]
    assert Path("adapter.cpp") in names
    for name in names:
        original = repository / ("" if name.parts[0] == "third_party" else "host/src") / name
        assert (shipped / name).read_bytes() == original.read_bytes(), name


def test_no_executorch_inside(unpacked: Path) -> None:
    """A second copy of the runtime would bring a second registry."""
    names = [file.name for file in libraries(unpacked)]
    assert not [name for name in names if name.startswith("libexecutorch")], names
    for library in libraries(unpacked):
        defined = run("nm", "-D", "--defined-only", "-C", library)
        assert "register_backend" not in defined, library
    assert not list(unpacked.rglob("executorch/**/*.h"))


@pytest.mark.parametrize(
    ("line", "needed"),
    [
        ("1.5", {"libexecutorch.so", "libexecutorch_threadpool.so"}),
        ("1.4", {"libqnn_executorch_backend.so"}),
    ],
)
def test_prebuilt_host_binds_to_its_release_only(
    unpacked: Path, line: str, needed: set[str]
) -> None:
    library = unpacked / PACKAGE / "lib" / f"libetbk_host-{line}.so"
    if line == "1.4" and platform.machine() != "x86_64":
        assert not library.exists(), "1.4 has no library that serves every Python here"
        return
    dynamic = run("readelf", "-d", "-W", library)
    found = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    system = {
        name for name in found if re.match(r"(libc|libm|libdl|libgcc_s|libstdc\+\+|ld-)", name)
    }
    assert found - system == needed
    assert "RPATH" not in dynamic
    assert "RUNPATH" not in dynamic
    exported = run("nm", "-D", "--defined-only", library).split("\n")
    names = [row.split()[2] for row in exported if row]
    assert names
    assert [name for name in names if not name.startswith("etbk_host_")] == []


def test_the_runner_needs_executorch_only_when_something_runs(unpacked: Path) -> None:
    program = run("readelf", "-d", "-W", unpacked / PACKAGE / "bin" / "etbk-run")
    assert "executorch" not in program
    dynamic = run("readelf", "-d", "-W", unpacked / PACKAGE / "lib" / "libetbk_run-1.5.so")
    needed = re.findall(r"\(NEEDED\).*\[(libe\w*[^\]]*)\]", dynamic)
    assert {"libexecutorch.so", "libetbk_host-1.5.so"} <= set(needed)
    assert re.findall(r"RUNPATH.*\[(.*)\]", dynamic) == ["$ORIGIN"]


def test_nothing_tells_where_it_was_built(unpacked: Path) -> None:
    repository = str(Path(__file__).resolve().parents[2]).encode()
    home = str(Path.home()).encode()
    for file in unpacked.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert repository not in data, file
            assert home + b"/" not in data, file


def test_source_archive_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """Built a second time, elsewhere, without the checkout."""
    repository = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with zipfile.ZipFile(wheel) as archive:
        moment = datetime(*archive.infolist()[0].date_time, tzinfo=timezone.utc)
    environment["SOURCE_DATE_EPOCH"] = str(int(moment.timestamp()))
    build = "from scikit_build_core.build import build_sdist; import sys; build_sdist(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, tmp_path], cwd=repository, env=environment, check=True
    )
    (source,) = tmp_path.glob("*.tar.gz")
    pip = [sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-index"]
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, source],
        env=environment,
        check=True,
    )
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_dependencies_are_light(unpacked: Path) -> None:
    fields = Parser().parsestr(metadata(unpacked, "METADATA"))
    required = {
        re.split(r"[ <>=!~;\[]", line)[0].lower()
        for line in fields.get_all("Requires-Dist", [])
        if "extra ==" not in line
    }
    assert required <= {"jinja2", "packaging", "rich", "tomli", "typer"}


def test_licences_are_inside(unpacked: Path) -> None:
    names = {
        str(file.relative_to(file.parents[2])) for file in unpacked.glob("*.dist-info/licenses/*")
    }
    assert any(name.endswith("licenses/LICENSE") for name in names), names


def test_version_is_the_same_everywhere(wheel: Path, unpacked: Path) -> None:
    version = wheel.name.split("-")[1]
    assert f'__version__ = "{version}"' in (unpacked / PACKAGE / "__init__.py").read_text()
    cmake = unpacked / PACKAGE / "share/cmake/ExecuTorchBackendKit"
    assert version in (cmake / "ExecuTorchBackendKitConfigVersion.cmake").read_text()
    changelog = (Path(__file__).resolve().parents[2] / "CHANGELOG.md").read_text()
    assert f"## {version}" in changelog
