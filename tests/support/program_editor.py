"""Programs taken apart into JSON, changed, and put together again, with the wheel's own flatc."""

from __future__ import annotations

import copy
import json
import struct
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import executorch  # type: ignore[import-not-found, unused-ignore]

PROGRAMS = Path(__file__).parents[1] / "pte" / "programs"
_SCHEMAS = Path(__file__).parents[2] / "pte" / "schema"
_FLATC = Path(next(iter(executorch.__path__))) / "data" / "bin" / "flatc"
_HEADER_ROOM = 64  # keeps every alignment that the FlatBuffer has


@dataclass
class Parts:
    """A file's metadata as JSON and its segments as bytes."""

    document: dict[str, Any]
    payload: bytes
    is_program: bool = True
    header: dict[str, int] = field(default_factory=dict)  # overrides

    @property
    def plan(self) -> dict[str, Any]:
        """The first method."""
        plan: dict[str, Any] = self.document["execution_plan"][0]
        return plan

    @property
    def values(self) -> list[dict[str, Any]]:
        """The first method's values."""
        values: list[dict[str, Any]] = self.plan["values"]
        return values

    @property
    def instructions(self) -> list[dict[str, Any]]:
        """The first chain's instructions."""
        instructions: list[dict[str, Any]] = self.plan["chains"][0]["instructions"]
        return instructions

    def first(self, kind: str, **wanted: object) -> dict[str, Any]:
        """The first value of a kind whose fields are as wanted; None: absent."""
        for value in self.values:
            if value["val_type"] == kind and all(
                value["val"].get(key) == want for key, want in wanted.items()
            ):
                found: dict[str, Any] = value["val"]
                return found
        raise AssertionError(f"no {kind} with {wanted}")

    def call(self, kind: str = "KernelCall") -> dict[str, Any]:
        """The arguments of the first instruction of a kind."""
        for instruction in self.instructions:
            if instruction["instr_args_type"] == kind:
                found: dict[str, Any] = instruction["instr_args"]
                return found
        raise AssertionError(kind)

    def operator(self, name: str) -> dict[str, Any]:
        """The first call of an operator."""
        for instruction in self.instructions:
            call = instruction["instr_args"]
            if (
                instruction["instr_args_type"] == "KernelCall"
                and self.plan["operators"][call["op_index"]]["name"] == name
            ):
                found: dict[str, Any] = call
                return found
        raise AssertionError(name)

    def build(self, folder: Path) -> bytes:
        """The file."""
        schema = "program.fbs" if self.is_program else "flat_tensor.fbs"
        source = folder / "parts.json"
        source.write_text(json.dumps(self.document))
        _flatc("--binary", "-o", str(folder), str(_SCHEMAS / schema), str(source))
        built = folder / ("parts.pte" if self.is_program else "parts.ptd")
        flat = built.read_bytes()
        built.unlink()
        (root,) = struct.unpack_from("<I", flat)
        metadata_size = len(flat) + _HEADER_ROOM
        base = -(-metadata_size // 128) * 128
        values = {
            "length": 32 if self.is_program else 40,
            "size": metadata_size,
            "base": base,
            "bytes": len(self.payload),
            **self.header,
        }
        if self.is_program:
            header = struct.pack(
                "<4sIQQQ",
                b"eh00",
                values["length"],
                values["size"],
                values["base"],
                values["bytes"],
            )
        else:
            header = struct.pack(
                "<4sIQQQQ",
                b"FH01",
                values["length"],
                0,
                values["size"],
                values["base"],
                values["bytes"],
            )
        head = (
            struct.pack("<I", root + _HEADER_ROOM) + flat[4:8] + header.ljust(_HEADER_ROOM, b"\0")
        )
        return (head + flat[8:]).ljust(base, b"\0") + self.payload


def _flatc(*arguments: str) -> None:
    subprocess.run([_FLATC, *arguments], check=True, capture_output=True)


@cache
def _taken_apart(name: str, folder: Path) -> Parts:
    path = PROGRAMS / name
    is_program = path.suffix == ".pte"
    schema = _SCHEMAS / ("program.fbs" if is_program else "flat_tensor.fbs")
    _flatc(
        "--json", "--strict-json", "--defaults-json", "--raw-binary",
        "-o", str(folder), str(schema), "--", str(path),
    )  # fmt: skip
    source = folder / f"{path.stem}.json"
    document = json.loads(source.read_text())
    source.unlink()
    content = path.read_bytes()
    base = 0
    if content[8:12] in (b"eh00", b"FH01"):
        (base,) = struct.unpack_from("<Q", content, 24 if is_program else 32)
    return Parts(document, content[base:] if base else b"", is_program)


def take_apart(name: str, folder: Path) -> Parts:
    """A stored program, to be changed."""
    return copy.deepcopy(_taken_apart(name, folder))
