"""Makes plugins that are wrong in one way each, from tests/bad_input/plugin.cpp and a good one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SOURCE = Path(__file__).resolve().parents[1] / "bad_input" / "plugin.cpp"


@dataclass(frozen=True)
class Workshop:
    """A folder for plugins, and the headers of the installed kit that they are built with."""

    folder: Path
    include: Path

    def build(self, name: str, *defines: str, compiler: str = "g++", abi: str = "") -> Path:
        """A plugin library. `defines` are macros of the source; `abi` is another ABI version."""
        library = self.folder / f"lib{name}.so"
        include = self.other_abi(abi) if abi else self.include
        command = [compiler, "-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden", "-O1"]
        command += [f"-I{include}", *(f"-D{define}" for define in defines), str(SOURCE)]
        subprocess.run([*command, "-o", str(library)], check=True)
        return library

    def other_abi(self, version: str) -> Path:
        """The headers, edited to another version of the ABI."""
        major, minor = version.split(".")
        copy = self.folder / f"include-{version}"
        if not copy.is_dir():
            shutil.copytree(self.include, copy)
            header = copy / "executorch_backend_kit" / "plugin.h"
            text = header.read_text()
            for part, value in (("MAJOR", major), ("MINOR", minor)):
                text = re.sub(rf"(#define ETBK_ABI_{part}) \d+u", rf"\1 {value}u", text)
            header.write_text(text)
        return copy

    def write(self, name: str, content: bytes) -> Path:
        """A file that is no plugin, or no longer one."""
        path = self.folder / name
        path.write_bytes(content)
        return path

    def manifest(self, library: Path, /, **changes: Any) -> Path:
        """A manifest beside the library: a right one, but for the changes; None removes a field."""
        fields: dict[str, Any] = {
            "schema": "etbk.manifest/1",
            "name": "bad",
            "vendor": "Bad",
            "version": "1.0.0",
            "library": library.name,
            "abi": {"major": 0, "minor": 9, "minor_needed": 9},
            "backends": ["BadBackend"],
        }
        fields = {key: value for key, value in (fields | changes).items() if value is not None}
        path = library.with_suffix(".json")
        path.write_text(json.dumps(fields))
        return path


def note(*ids: str, name: str = "bad", version: str = "1.0.0") -> str:
    """The macro that gives a plugin this note."""
    lines = [f"name={name}", "vendor=Bad", f"version={version}", *(f"id={i}" for i in ids)]
    return "NOTE=" + json.dumps("".join(f"{line}\n" for line in lines))
