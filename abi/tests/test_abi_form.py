"""The header keeps to the small C that every compiler lays out alike; all names have the prefix."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from abi_header import HEADER, Header, HeaderError, read_header

VALUES = {"uint8_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "size_t", "EtbkStatus"}
POINTEES = VALUES | {"void", "char"}
# Small values that are passed by value or in arrays, and what is written into files: frozen whole.
FROZEN = {
    "EtbkString",
    "EtbkBytes",
    "EtbkCompileSpec",
    "EtbkOption",
    "EtbkProfileEvent",
    "EtbkNoteHeader",
    "EtbkStaticPlugin",
}
GUARD = "EXECUTORCH_BACKEND_KIT_PLUGIN_H"


def problems(header: Header) -> list[str]:
    """Everything in a header that its rules forbid."""
    found = [f"enum {name} has a name: its size is the compiler's" for name in header.named_enums]
    for struct, fields in header.structs.items():
        for field in fields:
            found += [
                f"{struct}.{field.name}: `{type_name}` is not a fixed type"
                for type_name in _types(field.type)
                if not _allowed(type_name, header)
            ]
            if field.is_bitfield:
                found.append(f"{struct}.{field.name} is a bit-field")
        if struct not in FROZEN and (fields[0].name, fields[0].type) != ("struct_size", "uint32_t"):
            found.append(f"{struct} may grow and does not begin with `uint32_t struct_size`")
    found += [f"`{name}` lacks the prefix" for name in _unprefixed(header)]
    found += [f"{struct} has a condition inside" for struct in _conditional_structs(header.text)]
    found += [f"`{path}` is not a freestanding header" for path in _foreign_includes(header.text)]
    return found


def _types(type_name: str) -> list[str]:
    """The types in a member's type: itself, or a function pointer's result and arguments."""
    match = re.match(r"(.+?) \(\*\)\((.*)\)$", type_name)
    if not match:
        return [type_name]
    # A callback among the arguments is taken apart the same way.
    arguments = re.sub(r"([\w* ]+)\(\* ?\w+\)\(([^()]*)\)", r"\1, \2", match[2])
    parts = [match[1], *arguments.split(",")]
    return [re.sub(r"(?<=[\w*] )\w+$|(?<=\*)\w+$", "", part.strip()).strip() for part in parts]


def _allowed(type_name: str, header: Header) -> bool:
    bare = re.sub(r"\[\d+\]|\bconst\b", "", type_name).strip()
    is_pointer = bare.endswith("*") or "[" in type_name
    base = bare.replace("*", "").strip()
    if base in header.structs or base == "EtbkPluginEntry":
        return True
    return base in (POINTEES if is_pointer else VALUES | {"void"})


def _unprefixed(header: Header) -> list[str]:
    declared = set(re.findall(r"\b(?:struct|typedef struct)\s+(\w+)", header.declarations))
    declared |= set(re.findall(r"\}\s*(\w+)\s*;", header.declarations))
    declared |= set(re.findall(r"typedef\s+[\w* ]*?(\w+);", header.declarations))
    names = [name for name in sorted(declared) if not name.startswith("Etbk")]
    names += [name for name in header.enumerators if not name.startswith("ETBK_")]
    return names + [m for m in header.macros if not m.startswith("ETBK_") and m != GUARD]


def _conditional_structs(text: str) -> list[str]:
    bodies = re.finditer(r"struct (\w+) \{(.*?)^\}", text, re.S | re.M)
    return [match[1] for match in bodies if re.search(r"^\s*#", match[2], re.M)]


def _foreign_includes(text: str) -> list[str]:
    names = re.findall(r"^\s*#\s*include\s+[<\"](.+?)[>\"]", text, re.M)
    return [name for name in names if name not in ("stddef.h", "stdint.h")]


def test_the_header_keeps_to_its_own_rules(header: Header) -> None:
    assert not problems(header)


def test_frozen_structs_exist(header: Header) -> None:
    assert header.structs.keys() >= FROZEN


@pytest.mark.parametrize(
    ("declaration", "complaint"),
    [
        ("typedef struct EtbkX { uint32_t struct_size; _Bool on; } EtbkX;", "fixed type"),
        ("typedef struct EtbkX { uint32_t struct_size; int on; } EtbkX;", "fixed type"),
        ("typedef struct EtbkX { uint32_t struct_size; unsigned long on; } EtbkX;", "fixed type"),
        ("typedef struct EtbkX { uint32_t struct_size; float on; } EtbkX;", "fixed type"),
        ("typedef struct EtbkX { uint32_t struct_size; uint32_t on : 1; } EtbkX;", "bit-field"),
        ("typedef struct EtbkX { uint32_t on; } EtbkX;", "may grow"),
        ("struct EtbkX { uint32_t struct_size; void (*call)(long n); };", "fixed type"),
        ("struct EtbkX { uint32_t struct_size; int (*call)(void* p); };", "fixed type"),
        ("enum EtbkKind { ETBK_A = 0 };", "has a name"),
        ("enum { OTHER_A = 0 };", "lacks the prefix"),
        ("typedef uint32_t other_t;", "lacks the prefix"),
        ("#define OTHER 1", "lacks the prefix"),
        ("#include <string.h>", "freestanding"),
        (
            "struct EtbkX {\n  uint32_t struct_size;\n#if X\n  int32_t a;\n#endif\n};",
            "condition inside",
        ),
    ],
)
def test_each_forbidden_form_is_found(tmp_path: Path, declaration: str, complaint: str) -> None:
    mutated = tmp_path / "executorch_backend_kit" / "plugin.h"
    mutated.parent.mkdir()
    text = HEADER.read_text(encoding="utf-8")
    mutated.write_text(text.replace("#ifdef __cplusplus", f"{declaration}\n#ifdef __cplusplus", 1))
    found = problems(read_header(mutated, tmp_path))
    assert any(complaint in text for text in found), found


def test_an_unreadable_declaration_is_an_error(tmp_path: Path) -> None:
    mutated = tmp_path / "plugin.h"
    mutated.write_text("typedef struct EtbkX { char (*a)[4]; } EtbkX;\n")
    with pytest.raises(HeaderError, match="cannot read"):
        read_header(mutated, tmp_path)
