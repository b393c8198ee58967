"""The compilers and targets that the ABI is checked with."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

STRICT = (
    *("-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"),
    "-ffreestanding",
)


@dataclass(frozen=True)
class Toolchain:
    """A compiler with the flags that choose its target."""

    name: str
    c: tuple[str, ...]
    cxx: tuple[str, ...]
    pointer_bits: int


def _clang(name: str, bits: int, *flags: str) -> Toolchain:
    c = next((tool for tool in ("clang", "clang-14") if shutil.which(tool)), "clang")
    # The header needs no C++ library, and most targets have none here.
    return Toolchain(
        name, (c, *flags), (c.replace("clang", "clang++"), *flags, "-nostdinc++"), bits
    )


# The first is a must. The others are skipped where they are missing; scripts/test installs them.
TOOLCHAINS = (
    Toolchain("gcc", ("gcc",), ("g++",), 64),
    Toolchain("gcc-m32", ("gcc", "-m32"), ("g++", "-m32"), 32),
    Toolchain("gcc-aarch64", ("aarch64-linux-gnu-gcc",), ("aarch64-linux-gnu-g++",), 64),
    _clang("clang", 64),
    _clang("clang-i386", 32, "--target=i386-linux-gnu"),
    _clang("clang-arm", 32, "--target=arm-none-eabi"),
    _clang("clang-riscv32", 32, "--target=riscv32-unknown-elf"),
    _clang("clang-windows64", 64, "--target=x86_64-pc-windows-msvc"),
    _clang("clang-windows32", 32, "--target=i686-pc-windows-msvc"),
    _clang("clang-mingw64", 64, "--target=x86_64-pc-windows-gnu"),
    _clang("clang-macos", 64, "--target=arm64-apple-macos12"),
)

Compile = Callable[..., subprocess.CompletedProcess[str]]


@cache
def works(command: tuple[str, ...], language: str) -> bool:
    """True if this compiler is installed and knows its target."""
    if not shutil.which(command[0]):
        return False
    trial = [*command, "-fsyntax-only", "-x", language, "-"]
    return subprocess.run(trial, check=False, input="", capture_output=True).returncode == 0
