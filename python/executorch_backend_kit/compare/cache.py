"""Lowered programs, kept by what they were made from.

    keys/<key>.json         what was made, and the hash of the program
    programs/<sha256>.pte   the program

A file is written under a temporary name and renamed, so that any number of processes may share the
cache; a program is hashed before it is used. Deleting the folder at any time is safe.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.delegation import DelegationReport
from executorch_backend_kit.report.finding import Finding, Severity

_FORMAT = 1
_FORGOTTEN_AFTER = 24 * 3600.0  # seconds


@dataclass(frozen=True)
class Program:
    """A lowered program on disk."""

    path: Path
    sha256: str
    size: int
    delegation: DelegationReport
    seconds: float  # that lowering took when it was made

    def to_json(self) -> dict[str, Any]:
        """Everything but the path."""
        return {
            "sha256": self.sha256,
            "bytes": self.size,
            "delegation": self.delegation.to_json(),
            "seconds": self.seconds,
        }


def default_folder() -> Path:
    """$ETBK_CACHE, or the user's cache folder."""
    if named := os.environ.get("ETBK_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "executorch-backend-kit"


def key_of(parts: dict[str, Any]) -> str:
    """The key for a program made from these parts."""
    text = json.dumps({"format": _FORMAT, **parts}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Cache:
    """One cache folder. What goes wrong with it is a finding, never an error."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def staging_file(self) -> Path | Finding:
        """A new empty file to write a program into, on the same file system."""
        try:
            for name in ("keys", "programs", "staging"):
                (self.folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
            self._remove_forgotten()
            handle, path = tempfile.mkstemp(suffix=".pte", dir=self.folder / "staging")
            os.close(handle)
        except OSError as error:
            return Finding(
                "CACHE-NOT-WRITABLE",
                "Lowered programs cannot be kept for the next time.",
                evidence=f"{self.folder}: {error.strerror or error}",
                fix="Correct the folder's permissions, or name another in ETBK_CACHE.",
                severity=Severity.WARNING,
            )
        return Path(path)

    def _remove_forgotten(self) -> None:
        """Removes staging files that a process which was killed long ago left behind."""
        for path in list((self.folder / "staging").iterdir()):
            with suppress(OSError):  # another process may just have moved it away
                if time.time() - path.stat().st_mtime > _FORGOTTEN_AFTER:
                    path.unlink()

    def find(self, key: str) -> Program | Finding | None:
        """The program kept for `key`; a finding if it is damaged, None if there is none."""
        entry = self.folder / "keys" / f"{key}.json"
        try:
            data = json.loads(entry.read_text())
            program = Program(
                self.folder / "programs" / f"{data['sha256']}.pte",
                data["sha256"],
                data["bytes"],
                DelegationReport.from_json(data["delegation"]),
                data["seconds"],
            )
            actual = _hash(program.path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except IsADirectoryError as error:
            shutil.rmtree(error.filename, ignore_errors=True)
            return self._damaged(Path(error.filename), "a folder in the place of a file")
        except OSError as error:
            return Finding(
                "CACHE-NOT-READABLE",
                "A kept program cannot be read and is made again.",
                evidence=f"{self.folder}: {error.strerror or error}",
                fix="Correct the folder's permissions, or name another in ETBK_CACHE.",
                severity=Severity.WARNING,
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return self._damaged(entry, f"{type(error).__name__}: {error}")
        if actual != program.sha256:
            return self._damaged(program.path, f"its hash is {actual[:12]}")
        return program

    def _damaged(self, path: Path, what: str) -> Finding:
        return Finding(
            "CACHE-DAMAGED",
            "A kept program is damaged and is made again.",
            evidence=f"{path}: {what}",
            fix="Check the disk if this comes back.",
            severity=Severity.WARNING,
        )

    def keep(self, key: str, program: Program) -> tuple[Program, Finding | None]:
        """Moves a program from a staging file to its place; says if it will not be found there."""
        entry = self.folder / "keys" / f"{key}.json"
        temporary = program.path.with_suffix(".json")
        try:
            kept = replace(program, path=self.folder / "programs" / f"{program.sha256}.pte")
            program.path.replace(kept.path)
            program = kept
            temporary.write_text(json.dumps(program.to_json()))
            temporary.replace(entry)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            return program, Finding(
                "CACHE-NOT-WRITABLE",
                "A lowered program cannot be kept for the next time.",
                evidence=f"{self.folder}: {error.strerror or error}",
                fix="Free disk space, or name another folder in ETBK_CACHE.",
                severity=Severity.WARNING,
            )
        return program, None


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
