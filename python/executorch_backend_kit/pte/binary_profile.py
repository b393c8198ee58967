"""What can be read from an application's file: an ELF program or library, or an Android AAR/APK.

Kernels and backends leave their names in a binary's data. That they are there says that the code
was linked, not that it is registered or that a device is found: availability stays unknown.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from executorch_backend_kit.pte.elf_symbols import defines
from executorch_backend_kit.pte.errors import PteError
from executorch_backend_kit.pte.runtime_profile import SCHEMA

_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
_KERNEL = re.compile(
    rb"\0((?:aten|dim_order_ops|quantized_decomposed|executorch_prim|llama|torchao|preprocess|et_vk)"
    rb"::[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)?)(?=\0)"
)
_BACKEND = re.compile(rb"\0([A-Z][A-Za-z0-9_]{2,58}Backend(?:EthosU|VGF)?)(?=\0)")
_REGISTRY = b"_ZN10executorch7runtime16register_backendERKNS0_7BackendE"
# ABI note of a plugin: type and owner, 16 bytes of numbers, then lines of text; see plugin.h.
_PLUGIN_NOTE = re.compile(rb"(?:\x01BTE|ETB\x01)ETBK\0{4}.{16}(name=[^\0]*\n)", re.DOTALL)
_NEEDED = re.compile(rb"\0(lib[\w.+-]*executorch[\w.+-]*\.so(?:\.\d+)*)(?=\0)")
_SEARCH_PATH = re.compile(rb"\0((?:/|\$ORIGIN)[\x20-\x7e]*)(?=\0)")
_LARGEST_MEMBER = 1 << 30


def of_binary(path: Path) -> dict[str, Any]:
    """The profile that the file suggests."""
    kernels: set[str] = set()
    backends: set[str] = set()
    machines: set[str] = set()
    registries = []
    plugins = []
    unseen: set[str] = set()
    for name, content in _with_libraries(path, unseen):
        machines.add(_MACHINES.get(int.from_bytes(content[18:20], "little"), "unknown"))
        kernels.update(match.decode() for match in _KERNEL.findall(content))
        backends.update(match.decode() for match in _BACKEND.findall(content))
        if defines(content, _REGISTRY):
            registries.append(name)
        if note := _PLUGIN_NOTE.search(content):
            plugins.append(name)
            lines = note[1].decode(errors="replace").splitlines()
            backends.update(line[3:] for line in lines if line.startswith("id="))
    if not machines:
        raise PteError(
            "BINARY-NOT-ELF",
            f"{path.name} holds no ELF program or library.",
            fix="Give an ELF executable or shared library, or an AAR or APK that holds some.",
        )
    return {
        "schema": SCHEMA,
        "kind": "binary",
        "path": str(path),
        "arch": machines.pop() if len(machines) == 1 else "",
        "versions": {},
        "backends": [{"id": name, "available": None} for name in sorted(backends)],
        "kernels": [{"name": name, "keys": None} for name in sorted(kernels)],
        "incomplete": bool(unseen),
        "not_found": sorted(unseen),
        "registry_in": registries,
        "plugins_in": plugins,
    }


def _with_libraries(path: Path, unseen: set[str]) -> Iterator[tuple[str, bytes]]:
    """The file's ELF contents and those of the ExecuTorch libraries that it needs."""
    needed: dict[str, set[Path]] = {}
    done = set()
    for name, content in _elf_files(path):
        done.add(Path(name).name)
        yield name, content
        _note_needed(content, path.parent, needed)
    while needed.keys() - done:
        library = min(needed.keys() - done)
        done.add(library)
        folders = sorted(needed[library])
        found = next((d / library for d in folders if (d / library).is_file()), None)
        if found is None:
            unseen.add(library)
            continue
        content = found.read_bytes()
        yield library, content
        _note_needed(content, found.parent, needed)


def _note_needed(content: bytes, origin: Path, needed: dict[str, set[Path]]) -> None:
    folders = {origin, origin.parent / "lib"}
    for match in _SEARCH_PATH.findall(content):
        for folder in match.decode().replace("$ORIGIN", str(origin)).split(":"):
            folders.add(Path(folder))
    for match in _NEEDED.findall(content):
        needed.setdefault(match.decode(), set()).update(folders)


def _elf_files(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
        if magic == b"\x7fELF":
            yield path.name, path.read_bytes()
        elif magic[:2] == b"PK":
            yield from _members(path)
    except OSError as error:
        raise PteError(
            "BINARY-UNREADABLE",
            f"{path.name} cannot be read.",
            evidence=str(error.strerror),
            fix="Give the path of a readable file.",
        ) from None
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise PteError(
            "BINARY-DAMAGED", f"The archive {path.name} is damaged.", evidence=str(error)
        ) from None


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.filename.endswith(".so") and member.file_size <= _LARGEST_MEMBER:
                content = archive.read(member)
                if content[:4] == b"\x7fELF":
                    yield member.filename, content
