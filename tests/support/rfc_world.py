"""A folder in which a vendor, an application and a user work, and how commands run there."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Program:
    """A lowered program and what lowering told."""

    path: Path
    report: dict[str, Any]


@dataclass(frozen=True)
class World:
    """A folder, and how commands run in it."""

    folder: Path
    python: Path
    environment: dict[str, str]

    def run(
        self,
        *command: str | Path,
        check: bool = True,
        variables: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in the folder; a failure shows all that it printed."""
        result = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            env={**self.environment, **(variables or {})},
            capture_output=True,
            text=True,
            timeout=300,
        )
        shown = " ".join(map(str, command)) + f"\n{result.stdout}\n{result.stderr}"
        assert not check or result.returncode == 0, shown
        return result

    def script(
        self, name: str, *arguments: str | Path, variables: Mapping[str, str] | None = None
    ) -> Any:
        """Runs a script of the user's and reads the JSON in its last line."""
        output = self.run(self.python, name, *arguments, variables=variables).stdout
        return json.loads(output.splitlines()[-1])

    def cmake(self, source: str, build: str, prefixes: Sequence[Path], *options: str) -> Path:
        """Configures and builds a CMake project."""
        prefix = f"-DCMAKE_PREFIX_PATH={';'.join(map(str, prefixes))}"
        generate = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", prefix, *options]
        self.run("cmake", "-S", source, "-B", build, *generate)
        self.run("cmake", "--build", build)
        return self.folder / build


def sha256(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
