"""Which ExecuTorch is there, which host fits it, and what is said when none does."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from executorch_backend_kit.host import (
    HostError,
    HostMissingError,
    RuntimeMissingError,
    RuntimeUnsupportedError,
    locate_runtime,
    runtime_location,
)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty installation of ExecuTorch, and a folder for hosts beside it."""
    folder = tmp_path / "executorch"
    folder.mkdir()
    hosts = tmp_path / "hosts"
    hosts.mkdir()
    spec = ModuleSpec("executorch", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path / "elsewhere"), str(folder)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(runtime_location, "host_folder", lambda: hosts)
    return folder


def touch(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"")


def refused(kind: type[HostError], code: str) -> str:
    with pytest.raises(kind) as caught:
        locate_runtime()
    finding = caught.value.finding
    assert finding.code == code
    assert finding.evidence
    assert finding.fix
    return finding.message


@pytest.mark.parametrize(
    ("version", "line", "libraries"),
    [
        ("1.5.1+cpu", "1.5", ["lib/libexecutorch.so", "lib/libexecutorch_threadpool.so"]),
        ("1.5.0", "1.5", ["lib/libexecutorch.so", "lib/libexecutorch_threadpool.so"]),
        ("1.4.1+cpu", "1.4", ["backends/qualcomm/libqnn_executorch_backend.so"]),
    ],
)
def test_each_line_has_its_host(
    installed: Path, version: str, line: str, libraries: list[str]
) -> None:
    (installed / "version.py").write_text(f'__all__ = ["__version__"]\n__version__ = "{version}"\n')
    assert libraries[0].split("/")[-1] in refused(RuntimeMissingError, "RUNTIME-MISSING")
    for library in libraries:
        touch(installed / library)
    assert f"ExecuTorch {line}" in refused(HostMissingError, "HOST-LIBRARY-MISSING")
    touch(installed.parent / "hosts" / f"libetbk_host-{line}.so")
    location = locate_runtime()
    assert location.version == version.partition("+")[0]
    assert location.line == line
    assert location.libraries == tuple(installed / name for name in libraries)


@pytest.mark.parametrize("version", ["1.6.0", "1.3.1+cpu", "2.0.0a0", "1.60.0", "15.1"])
def test_other_releases_are_refused_by_name(installed: Path, version: str) -> None:
    (installed / "version.py").write_text(f"__version__ = '{version}'\n")
    message = refused(RuntimeUnsupportedError, "RUNTIME-UNSUPPORTED")
    assert f"ExecuTorch {version.partition('+')[0]} is installed" in message
    assert "1.4 and 1.5" in message


@pytest.mark.parametrize("text", ["", "__version__ = None\n", "__version__ = 'main'\n"])
def test_a_version_that_is_none(installed: Path, text: str) -> None:
    (installed / "version.py").write_text(text)
    refused(RuntimeUnsupportedError, "RUNTIME-UNSUPPORTED")


def test_no_executorch(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(RuntimeMissingError, "RUNTIME-MISSING")  # a folder without a version
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    refused(RuntimeMissingError, "RUNTIME-MISSING")


def test_a_host_that_does_not_load(installed: Path, tmp_path: Path) -> None:
    from executorch_backend_kit.host.binding import HostLibrary

    library = tmp_path / "libetbk_host-1.5.so"
    library.write_text("not a library")
    with pytest.raises(HostMissingError) as caught:
        HostLibrary(library, ())
    assert caught.value.finding.code == "HOST-LIBRARY-FAILED"
    assert "libetbk_host-1.5.so" in caught.value.finding.evidence
