"""The compatibility envelope around a backend's blob, written and read.

    blob = seal(
        payload,
        Envelope(backend_id="AcmeBackend", backend_version="1.2.0", blob_format=3),
    )

The format is specified in docs/formats/envelope.md; C, C++ and Python read and write the same
bytes. Hashes are XXH3 by default: it runs as fast as memory can be read and finds corruption,
which is what happens to files. Ask for SHA-256 where a file must be told apart from a forged one.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from executorch_backend_kit.pte._library import library, options, report
from executorch_backend_kit.pte.errors import PteError
from executorch_backend_kit.pte.program_file import payload_hash

MAGIC = b"ETBKENV\x1a"
VERSION = (1, 0)
_FIXED = struct.Struct("<8sHHIQQ32sIIIIII")
_FIXED_SIZE = 160
_TEXTS = (
    "backend_id",
    "backend_version",
    "package",
    "executorch_version",
    "torch_version",
    "arch",
    "features",
    "device",
)
_HASH_KINDS = {"none": 0, "xxh3": 1, "sha256": 2}


def _installed(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


@dataclass(frozen=True)
class NamedNeed:
    """An entry of named data that a blob needs."""

    size: int
    hash: int

    @staticmethod
    def of(content: bytes) -> NamedNeed:
        """The need for exactly this content."""
        return NamedNeed(len(content), payload_hash(content))


@dataclass(frozen=True)
class Envelope:
    """What a blob says of itself; versions of ExecuTorch and torch are those installed.

    `oldest_reader` is the oldest blob format whose readers understand this blob; by default only
    readers of this very format do. `arch` is "any" unless the payload holds machine code.
    """

    backend_id: str
    backend_version: str
    blob_format: int
    oldest_reader: int | None = None
    package: str = ""
    executorch_version: str = field(default_factory=lambda: _installed("executorch"))
    torch_version: str = field(default_factory=lambda: _installed("torch"))
    arch: str = "any"
    features: str = ""
    device: str = ""
    payload_alignment: int = 16
    hash_kind: str = "xxh3"
    named_data: Mapping[str, NamedNeed] = field(default_factory=dict)

    def header(self, payload: bytes) -> bytes:
        """The bytes in front of this payload."""
        if self.payload_alignment < 1 or self.payload_alignment & (self.payload_alignment - 1):
            raise PteError(
                "ENVELOPE-INVALID",
                f"The payload alignment {self.payload_alignment} is not a power of two.",
            )
        oldest = self.blob_format if self.oldest_reader is None else self.oldest_reader
        if oldest > self.blob_format:
            raise PteError(
                "ENVELOPE-INVALID",
                f"oldest_reader {oldest} is newer than the blob's own format {self.blob_format}.",
            )
        tail = bytearray(24 * len(self.named_data))

        def place(text: str) -> tuple[int, int]:
            encoded = text.encode()
            tail.extend(encoded)
            return _FIXED_SIZE + len(tail) - len(encoded), len(encoded)

        for index, (key, need) in enumerate(self.named_data.items()):
            entry = struct.pack("<IIQQ", *place(key), need.size, need.hash)
            tail[24 * index : 24 * index + 24] = entry
        places = b"".join(struct.pack("<II", *place(getattr(self, name))) for name in _TEXTS)
        unit = max(16, self.payload_alignment)
        size = -(-(_FIXED_SIZE + len(tail)) // unit) * unit

        def fixed(checksum: int) -> bytes:
            return (
                _FIXED.pack(
                    MAGIC,
                    *VERSION,
                    size,
                    checksum,
                    len(payload),
                    self._hash(payload),
                    _HASH_KINDS[self.hash_kind],
                    self.payload_alignment,
                    self.blob_format,
                    oldest,
                    len(self.named_data),
                    _FIXED_SIZE,
                )
                + places
            ).ljust(_FIXED_SIZE, b"\0")

        rest = bytes(tail).ljust(size - _FIXED_SIZE, b"\0")
        return fixed(payload_hash(fixed(0) + rest)) + rest

    def _hash(self, payload: bytes) -> bytes:
        if self.hash_kind == "sha256":
            return hashlib.sha256(payload).digest()
        if self.hash_kind == "xxh3":
            return payload_hash(payload).to_bytes(8, "little")
        return b""


def seal(payload: bytes, envelope: Envelope) -> bytes:
    """The payload with its envelope in front."""
    return envelope.header(payload) + payload


@dataclass(frozen=True)
class BlobGrade:
    """How a blob fits a backend."""

    grade: str  # "optimal", "usable", "needs rebuild", "unusable"
    verdict: str
    sentence: str
    cure: str


def grade(
    blob: bytes,
    backend_id: str,
    *,
    format_oldest: int,
    format_newest: int,
    arch: str | None = None,
) -> BlobGrade:
    """Grades a blob from its envelope alone, as the host does before it shows it to a backend."""
    wanted: dict[str, Any] = {
        "id": backend_id,
        "format_oldest": format_oldest,
        "format_newest": format_newest,
        "arch": arch,
    }
    head = blob[:65536]  # the payload is not looked at
    document = report(library().etbk_pte_grade(head, len(head), len(blob), options(wanted)))
    return BlobGrade(**document)
