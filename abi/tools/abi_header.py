"""What the plugin ABI header declares: structs, enumerators, macros, taken from the preprocessor.

Read by the tests and by abi_layout.py. Understands only the C that the header allows itself.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ABI = Path(__file__).resolve().parent.parent
INCLUDE = ABI / "include"
HEADER = INCLUDE / "executorch_backend_kit" / "plugin.h"

_STRUCT = re.compile(r"(?:typedef\s+)?struct\s+(\w+)\s*\{([^{}]*)\}\s*(\w*)\s*;", re.S)
_ENUM = re.compile(r"enum\s*(\w*)\s*\{([^{}]*)\}", re.S)
_FUNCTION_POINTER = re.compile(
    r"^(?P<result>.+?)\(\*\s*(?P<name>\w+)\)\s*\((?P<arguments>.*)\)$", re.S
)
_PLAIN = re.compile(
    r"^(?P<type>.+?)(?P<name>\w+)\s*(?P<array>\[\d+\])?\s*(?P<bits>:\s*\d+)?$", re.S
)


@dataclass(frozen=True)
class Field:
    """One member of a struct; a function pointer's type holds its whole signature."""

    name: str
    type: str
    is_function: bool
    is_bitfield: bool


@dataclass(frozen=True)
class Header:
    """The declarations of one header, in order."""

    structs: dict[str, tuple[Field, ...]]
    enumerators: tuple[str, ...]
    named_enums: tuple[str, ...]
    macros: dict[str, str]
    text: str
    declarations: str


class HeaderError(Exception):
    """A declaration that this reader, and hence the header's rules, do not know."""


def read_header(path: Path = HEADER, include: Path = INCLUDE) -> Header:
    """Reads a header as C99 sees it."""
    declarations = _own_lines(path, include)
    structs = {
        match.group(1): tuple(_field(part) for part in _statements(match.group(2)))
        for match in _STRUCT.finditer(declarations)
    }
    enums = [(m.group(1), m.group(2)) for m in _ENUM.finditer(declarations)]
    names = [part.split("=")[0].strip() for _, body in enums for part in body.split(",")]
    return Header(
        structs=structs,
        enumerators=tuple(name for name in names if name),
        named_enums=tuple(name for name, _ in enums if name),
        macros=_own_macros(path, include),
        text=path.read_text(encoding="utf-8"),
        declarations=declarations,
    )


def _preprocess(source: str, include: Path, *flags: str) -> str:
    command = ["gcc", "-std=c99", "-ffreestanding", "-E", *flags, f"-I{include}", "-x", "c", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def _own_lines(path: Path, include: Path) -> str:
    """The preprocessed lines that come from the header itself, not from what it includes."""
    lines = []
    inside = False
    for line in _preprocess(f'#include "{path}"\n', include).splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            inside = marker.group(1) == str(path)
        elif inside:
            lines.append(line)
    return "\n".join(lines)


def _own_macros(path: Path, include: Path) -> dict[str, str]:
    def defined(source: str) -> dict[str, str]:
        pairs = (
            line.split(" ", 2)[1:] for line in _preprocess(source, include, "-dM").splitlines()
        )
        return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}

    standard = defined("#include <stddef.h>\n#include <stdint.h>\n")
    every = defined(f'#include "{path}"\n')
    return {name: value for name, value in sorted(every.items()) if name not in standard}


def _statements(body: str) -> list[str]:
    return [" ".join(part.split()) for part in body.split(";") if part.strip()]


def _field(declaration: str) -> Field:
    match = _FUNCTION_POINTER.match(declaration)
    if match:
        signature = f"{match['result'].strip()} (*)({' '.join(match['arguments'].split())})"
        return Field(match["name"], signature, is_function=True, is_bitfield=False)
    match = _PLAIN.match(declaration)
    if not match:
        raise HeaderError(f"cannot read the declaration `{declaration}`")
    type_name = match["type"].strip() + (match["array"] or "")
    return Field(match["name"], type_name, is_function=False, is_bitfield=bool(match["bits"]))
