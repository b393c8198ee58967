"""Reading `.pte` and `.ptd` files: reports, verification, zero-copy views.

    with ProgramFile.open("model.pte") as file:
        for method in file.inspect()["methods"]:
            print(method["name"], [delegate["id"] for delegate in method["delegates"]])
        blob = file.blob("forward", 0)          # a memoryview into the file
        for finding in file.verify().findings:
            print(finding.to_text())

Nothing here loads ExecuTorch or torch. A hostile file cannot crash the process: its metadata is
copied and fully verified before anything is read from it.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from executorch_backend_kit.pte._library import library, options, report
from executorch_backend_kit.pte.errors import PteError
from executorch_backend_kit.report.finding import Finding, Severity

_NO_PROGRAM = ("PTE-001", "PTE-002", "PTE-003", "PTE-004")


@dataclass(frozen=True)
class Limits:
    """What reading a file may cost, in bytes and looked-at list elements; None is the default."""

    program_bytes: int | None = None
    work: int | None = None
    planned_bytes: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The limits as the library takes them."""
        return {
            "program_bytes": self.program_bytes,
            "work": self.work,
            "planned_bytes": self.planned_bytes,
        }


@dataclass(frozen=True)
class Verification:
    """The result of verifying a file."""

    level: str
    accepted: bool
    findings: tuple[Finding, ...]


class _Handle:
    """The library's object, closed when the last of its users has gone."""

    def __init__(self, address: int, keep: object) -> None:
        self.address = address
        self._keep = keep  # the memory it reads
        self._close = library().etbk_pte_close

    def __del__(self) -> None:
        self._close(self.address)


class ProgramFile:
    """An opened `.pte` or `.ptd`. Close it, or use it as a context manager.

    Used by one thread at a time. Views handed out by `bytes_at`, `blob` and `payload` stay valid
    after `close`: the file stays mapped as long as one of them lives.
    """

    def __init__(self, handle: _Handle) -> None:
        self._handle: _Handle | None = handle

    @classmethod
    def open(cls, path: str | os.PathLike[str], limits: Limits | None = None) -> ProgramFile:
        """Opens a path. What is wrong with it is told by `verify` and `inspect`."""
        given = options((limits or Limits()).to_json())
        return cls._of(library().etbk_pte_open(os.fsencode(path), given))

    @classmethod
    def of_descriptor(cls, descriptor: int, limits: Limits | None = None) -> ProgramFile:
        """Reads an open file; the descriptor stays the caller's."""
        given = options((limits or Limits()).to_json())
        return cls._of(library().etbk_pte_open_descriptor(descriptor, given))

    @classmethod
    def of_memory(cls, data: bytes, limits: Limits | None = None) -> ProgramFile:
        """Reads a program in memory, without a copy of its payloads."""
        given = options((limits or Limits()).to_json())
        address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
        return cls._of(library().etbk_pte_open_memory(address, len(data), given), data)

    @classmethod
    def _of(cls, handle: int | None, keep: object = None) -> ProgramFile:
        if handle is None:
            raise MemoryError("the .pte library had no memory to open the file")
        return cls(_Handle(handle, keep))

    def close(self) -> None:
        """Closes the file."""
        self._handle = None

    def __enter__(self) -> ProgramFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _open(self) -> _Handle:
        if self._handle is None:
            raise ValueError("the program file is closed")
        return self._handle

    @property
    def handle(self) -> int:
        """The library's object."""
        return self._open.address

    @property
    def is_sound(self) -> bool:
        """True if the structure is sound, so that the file can be looked into."""
        return bool(library().etbk_pte_is_sound(self.handle))

    @property
    def is_program_file(self) -> bool:
        """False if there is no file or it is something else than a program or data file.

        A program that is cut off or damaged is one all the same.
        """
        if self.is_sound:
            return True
        findings = self.verify(level="structure").findings
        return not any(finding.code in _NO_PROGRAM for finding in findings)

    def inspect(self, *, hash: bool = False) -> dict[str, Any]:  # noqa: A002 - the report's word
        """What is in the file, as `etbk.inspect/1`. With `hash` every payload is read."""
        return report(library().etbk_pte_inspect(self.handle, options({"hash": hash})))

    def verify(
        self,
        *,
        level: str = "semantics",
        external: ProgramFile | None = None,
        hash: bool = False,  # noqa: A002 - the report's word
    ) -> Verification:
        """Holds the file to the rules: "structure", or "semantics", which is all of them."""
        document = report(
            library().etbk_pte_verify(
                self.handle,
                None if external is None else external.handle,
                options({"level": level, "hash": hash}),
            )
        )
        return Verification(
            document["level"],
            document["accepted"],
            tuple(Finding.from_json(row) for row in document["findings"]),
        )

    def bytes_at(self, offset: int, size: int) -> memoryview:
        """A part of the file in place, without a copy."""
        address = library().etbk_pte_bytes(self.handle, offset, size)
        if address is None:
            raise PteError(
                "PTE-RANGE-OUTSIDE",
                f"The file has no {size} bytes at {offset}.",
                fix="Take offsets and sizes from inspect().",
            )
        view = (ctypes.c_char * size).from_address(address)
        view._handle = self._open  # type: ignore[attr-defined]  # lives as long as the view
        return memoryview(view).cast("B").toreadonly()

    def blob(self, method: str, delegate: int) -> memoryview:
        """The blob of one delegate in place, with its envelope if it has one."""
        row = self._delegate(method, delegate)
        return self.bytes_at(row["offset"], row["bytes"])

    def payload(self, method: str, delegate: int) -> memoryview:
        """The blob of one delegate in place, without its envelope."""
        row = self._delegate(method, delegate)
        envelope = row["envelope"]
        if envelope is None:
            return self.bytes_at(row["offset"], row["bytes"])
        if not envelope["sound"]:
            raise PteError("PTE-608", f"The blob's envelope is unusable: {envelope['problem']}.")
        payload = envelope["payload"]
        return self.bytes_at(row["offset"] + payload["offset"], payload["bytes"])

    def _delegate(self, method: str, delegate: int) -> dict[str, Any]:
        for row in self.inspect()["methods"]:
            if row["name"] == method and delegate < len(row["delegates"]):
                found: dict[str, Any] = row["delegates"][delegate]
                return found
        raise PteError(
            "PTE-DELEGATE-MISSING",
            f"The file has no method {method!r} with a delegate {delegate}.",
            fix="Take method and delegate from inspect().",
        )

    @property
    def shrank(self) -> bool:
        """True once the file became shorter while it was mapped; its views then read as zeros."""
        return bool(library().etbk_pte_shrank(self.handle))


def rules() -> list[dict[str, str]]:
    """Every rule that files are held to: code, severity, meaning."""
    rows: list[dict[str, str]] = report(library().etbk_pte_rules())["rules"]
    return rows


def payload_hash(data: bytes | bytearray | memoryview) -> int:
    """XXH3 of some bytes, as envelopes carry it."""
    whole = data if isinstance(data, bytes) else bytes(data)
    return int(library().etbk_pte_hash(ctypes.c_char_p(whole), len(whole)))


def read(path: str | os.PathLike[str]) -> ProgramFile:
    """Opens a path whose structure must be sound; otherwise raises with the first finding."""
    file = ProgramFile.open(path)
    if not file.is_sound:
        (finding, *_) = file.verify(level="structure").findings
        raise PteError.of(
            Finding(
                finding.code,
                f"{Path(path).name}: {finding.message}",
                finding.evidence,
                finding.fix,
                Severity.ERROR,
            )
        )
    return file
