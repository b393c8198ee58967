"""Fixtures of the ABI tests: the header, and each compiler in turn."""

from __future__ import annotations

import subprocess

import pytest
from abi_header import INCLUDE, Header, read_header
from abi_toolchains import TOOLCHAINS, Compile, Toolchain, works


@pytest.fixture(params=TOOLCHAINS, ids=lambda toolchain: toolchain.name)
def toolchain(request: pytest.FixtureRequest) -> Toolchain:
    """Each compiler and target in turn."""
    chosen: Toolchain = request.param
    if chosen.name != "gcc" and not works(chosen.c, "c"):
        pytest.skip(f"{chosen.c[0]} for {chosen.name} is not installed")
    return chosen


@pytest.fixture
def compile_text(toolchain: Toolchain) -> Compile:
    """compile_text(source, standard, *flags): checks a text with the toolchain, writes nothing."""

    def run(source: str, standard: str, *flags: str) -> subprocess.CompletedProcess[str]:
        cxx = standard.startswith("c++")
        command = toolchain.cxx if cxx else toolchain.c
        if toolchain.name != "gcc" and not works(command, "c++" if cxx else "c"):
            pytest.skip(f"{command[0]} for {toolchain.name} is not installed")
        arguments = [*command, f"-std={standard}", *flags, f"-I{INCLUDE}", "-fsyntax-only", "-x"]
        return subprocess.run(
            [*arguments, "c++" if cxx else "c", "-"],
            check=False,
            input=source,
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture(scope="session")
def header() -> Header:
    """The plugin ABI header, read once."""
    return read_header()
