"""Records the layout of the plugin ABI, and says how a header differs from the record.

    python abi/tools/abi_layout.py            compare the header with abi/layout.json
    python abi/tools/abi_layout.py --write    record the header's layout

The record holds each struct's size, each member's type, offset and size, with 64-bit and with
32-bit pointers, and each constant's value. A change here is a change of the ABI (ABI-001).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from abi_header import ABI, HEADER, INCLUDE, Header, read_header

RECORD = ABI / "layout.json"
# Compilers for each pointer width, best first; the first that works here is used.
WIDTHS = {
    "64": (("gcc",), ("clang",)),
    "32": (("gcc", "-m32"), ("clang", "-m32"), ("clang-14", "-m32"), ("arm-linux-gnueabihf-gcc",)),
}
# How a call is spelled and a symbol exported differs by platform and is no part of the layout.
_NOT_RECORDED = {"ETBK_CALL", "ETBK_EXPORT", "EXECUTORCH_BACKEND_KIT_PLUGIN_H"}
# Added to each measured number, so that no compiler writes a run of zeros as one directive.
_BIAS = 1_000_000

Layout = dict[str, Any]


def measure(header: Header, path: Path = HEADER, include: Path = INCLUDE) -> Layout:
    """The layout of a header as gcc sees it, for both pointer widths."""
    expressions = [*header.enumerators]
    for struct, fields in header.structs.items():
        expressions.append(f"sizeof({struct})")
        for field in fields:
            expressions.append(f"offsetof({struct}, {field.name})")
            expressions.append(f"sizeof((({struct}*)0)->{field.name})")
    numbers = {width: _evaluate(expressions, path, include, width) for width in WIDTHS}
    both = {name: [numbers[width][name] for width in WIDTHS] for name in expressions}
    return {
        "abi": f"{_version(header, 'MAJOR')}.{_version(header, 'MINOR')}",
        "pointer_bits": [int(width) for width in WIDTHS],
        "constants": {name: both[name][0] for name in header.enumerators}
        | {
            name: value
            for name, value in header.macros.items()
            if "(" not in name and not name.endswith("_") and name not in _NOT_RECORDED
        },
        "structs": {
            struct: {
                "size": both[f"sizeof({struct})"],
                "members": {
                    field.name: {
                        "type": field.type,
                        "offset": both[f"offsetof({struct}, {field.name})"],
                        "size": both[f"sizeof((({struct}*)0)->{field.name})"],
                    }
                    for field in fields
                },
            }
            for struct, fields in header.structs.items()
        },
    }


def _version(header: Header, part: str) -> str:
    return header.macros[f"ETBK_ABI_{part}"].rstrip("u")


def compiler_for(width: str) -> tuple[str, ...]:
    """The compiler command for a pointer width."""
    probe = f"typedef char check[sizeof(void*) == {int(width) // 8} ? 1 : -1];"
    for command in WIDTHS[width]:
        if shutil.which(command[0]):
            trial = [*command, "-fsyntax-only", "-x", "c", "-"]
            result = subprocess.run(trial, check=False, input=probe, capture_output=True, text=True)
            if result.returncode == 0:
                return command
    raise SystemExit(f"no compiler for {width}-bit code here: install gcc, or clang for 32 bits")


def _evaluate(expressions: Sequence[str], path: Path, include: Path, width: str) -> dict[str, int]:
    """Values of constant expressions, read from the assembly so that nothing has to run."""
    values = ",\n".join(f"{_BIAS} + (unsigned)({expression})" for expression in expressions)
    source = f'#include "{path}"\nconst unsigned etbk_values[] = {{\n{values}}};\n'
    command = [*compiler_for(width), "-std=c99", "-ffreestanding", f"-I{include}", "-S", "-o", "-"]
    result = subprocess.run(
        [*command, "-x", "c", "-"], input=source, capture_output=True, text=True, check=True
    )
    words = re.findall(r"\.(?:long|word|4byte)\s+(\d+)", result.stdout)
    numbers = [int(word) - _BIAS for word in words]
    return dict(zip(expressions, numbers, strict=True))


def differences(old: Layout, new: Layout) -> list[str]:
    """One sentence per difference; those that break built plugins say BREAKS."""
    found = []
    if old["abi"] != new["abi"]:
        found.append(f"ABI version {old['abi']} became {new['abi']}")
    for name in sorted(old["constants"].keys() | new["constants"].keys()):
        before, after = old["constants"].get(name), new["constants"].get(name)
        if after is None:
            found.append(f"BREAKS: {name} is gone")
        elif before is None:
            found.append(f"{name} is new")
        elif before != after and not name.startswith("ETBK_ABI_"):
            found.append(f"BREAKS: {name} was {before} and is {after}")
    for struct in sorted(old["structs"].keys() | new["structs"].keys()):
        found += _struct_differences(struct, old["structs"].get(struct), new["structs"].get(struct))
    return found


def _struct_differences(struct: str, old: Layout | None, new: Layout | None) -> list[str]:
    if new is None:
        return [f"BREAKS: {struct} is gone"]
    if old is None:
        return [f"{struct} is new"]
    found = []
    if "struct_size" not in old["members"] and old != new:
        found.append(f"BREAKS: {struct} has no struct_size, so it may never change")
    for name, before in old["members"].items():
        found += _member_differences(f"{struct}.{name}", before, new["members"].get(name))
    for name, added in new["members"].items():
        if name in old["members"]:
            continue
        if all(at >= end for at, end in zip(added["offset"], old["size"], strict=True)):
            found.append(f"{struct}.{name} is appended")
        else:
            found.append(f"BREAKS: {struct}.{name} was put between older members")
    return found


def _member_differences(member: str, before: Layout, after: Layout | None) -> list[str]:
    if after is None:
        return [f"BREAKS: {member} is gone"]
    if before["type"] != after["type"]:
        return [f"BREAKS: {member} was `{before['type']}` and is `{after['type']}`"]
    return [f"BREAKS: {member} moved or changed its size"] if before != after else []


def to_text(layout: Layout) -> str:
    """JSON with one member a line, so that a change is one line of a diff."""
    text = json.dumps(layout, indent=1)
    text = re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", text)
    return re.sub(r"\{\s+(\"type\"[^{}]*?)\s+\}", _one_line, text) + "\n"


def _one_line(match: re.Match[str]) -> str:
    return "{" + re.sub(r",\s+\"", ', "', match.group(1)) + "}"


def read_record(path: Path = RECORD) -> Layout:
    layout: Layout = json.loads(path.read_text(encoding="utf-8"))
    return layout


def main(arguments: Sequence[str]) -> int:
    layout = measure(read_header())
    if list(arguments) == ["--write"]:
        with tempfile.NamedTemporaryFile("w", dir=ABI, delete=False, encoding="utf-8") as file:
            file.write(to_text(layout))
        written = Path(file.name)
        written.chmod(0o644)
        written.replace(RECORD)
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    found = differences(read_record(), layout)
    print("\n".join(found) or f"{HEADER.name} and {RECORD.name} agree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
