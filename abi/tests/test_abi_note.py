"""The note: written by the macro from C and C++, and still there after linking and stripping."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from abi_header import INCLUDE

NAME, VENDOR, VERSION, IDS = "acme", "Acme", "1.2.0", ("AcmeBackend", "AcmeOtherBackend")
TEXT = f"name={NAME}\nvendor={VENDOR}\nversion={VERSION}\n" + "".join(f"id={i}\n" for i in IDS)
PLUGIN = f"""
#include <executorch_backend_kit/plugin.h>
ETBK_PLUGIN_NOTE(7, {json.dumps(TEXT)});
ETBK_PLUGIN_ENTRY(acme) {{
  (void)host;
  plugin->abi_major = ETBK_ABI_MAJOR;
  return ETBK_STATUS_OK;
}}
"""
HARDEST = ("-O2", "-flto", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s")


@dataclass(frozen=True)
class Note:
    """A note as a reader finds it by the program headers alone."""

    owner: bytes
    type: int
    format: int
    abi: tuple[int, int, int]
    text: str


def notes(library: Path) -> list[Note]:
    """Every note of the kit in the file's PT_NOTE segments."""
    data = library.read_bytes()
    assert data[:4] == b"\x7fELF"
    order = "<" if data[5] == 1 else ">"
    if data[4] == 2:
        (table,), (entry, count) = (
            struct.unpack_from(order + "Q", data, 32),
            struct.unpack_from(order + "HH", data, 54),
        )
        kinds = [struct.unpack_from(order + "II6Q", data, table + i * entry) for i in range(count)]
        segments = [(kind[2], kind[5], kind[7]) for kind in kinds if kind[0] == 4]
    else:
        (table,), (entry, count) = (
            struct.unpack_from(order + "I", data, 28),
            struct.unpack_from(order + "HH", data, 42),
        )
        kinds = [struct.unpack_from(order + "8I", data, table + i * entry) for i in range(count)]
        segments = [(kind[1], kind[4], kind[7]) for kind in kinds if kind[0] == 4]
    found = []
    for start, size, alignment in segments:
        found += _notes_of_segment(data[start : start + size], order, max(alignment, 4))
    return found


def _notes_of_segment(segment: bytes, order: str, alignment: int) -> list[Note]:
    found = []
    at = 0
    while at + 12 <= len(segment):
        name_size, size, kind = struct.unpack_from(order + "III", segment, at)
        owner = segment[at + 12 : at + 12 + name_size]
        start = -(-(at + 12 + name_size) // alignment) * alignment
        body = segment[start : start + size]
        at = -(-(start + size) // alignment) * alignment
        if owner == b"ETBK\0":
            version, *abi = struct.unpack_from(order + "IIII", body)
            text = body[16:].split(b"\0")[0].decode()
            found.append(Note(owner, kind, version, (abi[0], abi[1], abi[2]), text))
    return found


def build(folder: Path, compiler: tuple[str, ...], *flags: str) -> Path:
    """Builds the plugin above as a shared library without any other library."""
    language = "c++" if "++" in compiler[0] else "c"
    source = folder / ("plugin.cpp" if language == "c++" else "plugin.c")
    source.write_text(PLUGIN)
    library = folder / "libacme.so"
    standard = "-std=c++17" if language == "c++" else "-std=c99"
    command = [*compiler, standard, "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{INCLUDE}"]
    command += ["-fPIC", "-shared", "-fvisibility=hidden", "-ffreestanding", "-nostdlib", *flags]
    subprocess.run([*command, str(source), "-o", str(library)], check=True)
    return library


def require(*tools: str) -> None:
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")


def check(library: Path) -> None:
    (note,) = notes(library)
    assert note.type == 0x45544201
    assert note.format == 1
    assert note.abi == (0, 9, 7)
    assert note.text == TEXT


@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang-14", "clang++-14"])
@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_it_survives_linking_and_stripping(tmp_path: Path, compiler: str, linker: str) -> None:
    require(compiler, f"ld.{linker}")
    check(build(tmp_path, (compiler,), f"-fuse-ld={linker}", *HARDEST))


@pytest.mark.parametrize("compiler", ["clang-14", "clang++-14"])
def test_it_survives_lld(tmp_path: Path, compiler: str) -> None:
    require(compiler, "ld.lld-14")
    check(build(tmp_path, (compiler,), "-fuse-ld=lld", "-Wl,--icf=all", *HARDEST))


@pytest.mark.parametrize("compiler", [("gcc", "-m32"), ("g++", "-m32"), ("aarch64-linux-gnu-gcc",)])
def test_it_is_the_same_on_other_machines(tmp_path: Path, compiler: tuple[str, ...]) -> None:
    require(compiler[0])
    check(build(tmp_path, compiler, "-O2", "-Wl,--gc-sections", "-s"))


def test_it_survives_strip_of_everything(tmp_path: Path) -> None:
    library = build(tmp_path, ("gcc",))
    subprocess.run(["strip", "--strip-all", str(library)], check=True)
    check(library)
    subprocess.run(["objcopy", "--strip-all", "--strip-unneeded", str(library)], check=True)
    check(library)


def test_without_the_macros_protection_it_is_lost(tmp_path: Path) -> None:
    """Shows that the tests above can fail: the attribute `used` is what keeps the note."""
    assert notes(build(tmp_path, ("gcc",), *HARDEST, "-Dused=unused")) == []


def test_the_entry_is_the_one_exported_symbol(tmp_path: Path) -> None:
    library = build(tmp_path, ("gcc",), "-Wmissing-prototypes")
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", str(library)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert [line.split()[0] for line in symbols.splitlines()] == ["etbk_plugin_entry"]


def test_a_static_plugin_has_an_entry_of_its_own_name(tmp_path: Path) -> None:
    source = tmp_path / "plugin.c"
    source.write_text(PLUGIN)
    built = tmp_path / "plugin.o"
    command = ["gcc", "-std=c99", "-DETBK_STATIC_PLUGIN", f"-I{INCLUDE}", "-c", str(source)]
    subprocess.run([*command, "-o", str(built)], check=True)
    symbols = subprocess.run(
        ["nm", "--extern-only", "--defined-only", "--format=posix", str(built)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert [line.split()[0] for line in symbols.splitlines()] == ["etbk_plugin_entry_acme"]
