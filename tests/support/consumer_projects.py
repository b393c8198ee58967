"""Commands and CMake projects, as the people who use the installed kit run them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Finished:
    """A command that ended: what it printed, both streams together, and how it ended."""

    command: str
    status: int
    output: str

    def succeeded(self) -> Finished:
        assert self.status == 0, f"{self.command}\nended with {self.status}\n{self.output}"
        return self

    def failed_with(self, *sentences: str) -> Finished:
        """Fails unless the command failed and said each of these, however the lines are broken."""
        assert self.status != 0, f"{self.command}\nsucceeded\n{self.output}"
        text = " ".join(self.output.split())
        for sentence in sentences:
            assert sentence in text, f"{self.command}\ndid not say: {sentence}\n{self.output}"
        return self


def run(*command: str | Path, folder: Path | None = None, **variables: str) -> Finished:
    """Runs a command; it may fail."""
    result = subprocess.run(
        command,
        check=False,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return Finished(" ".join(map(str, command)), result.returncode, result.stdout)


@dataclass(frozen=True)
class Project:
    """A CMake project: where it lies, where it is built, and what it is configured with."""

    source: Path
    build: Path
    prefixes: Sequence[Path]
    options: Sequence[str] = ()
    generator: str = "Ninja"

    def configure(self) -> Finished:
        prefix = f"-DCMAKE_PREFIX_PATH={';'.join(map(str, self.prefixes))}"
        return run(
            "cmake", "-S", self.source, "-B", self.build, "-G", self.generator,
            "-DCMAKE_BUILD_TYPE=Release", prefix, *self.options,
        )  # fmt: skip

    def compile(self, *arguments: str) -> Finished:
        return run("cmake", "--build", self.build, "--parallel", "2", *arguments)

    def made(self) -> Project:
        """Configures and builds, both with success."""
        self.configure().succeeded()
        self.compile().succeeded()
        return self

    def install(self, prefix: Path, *arguments: str) -> None:
        run("cmake", "--install", self.build, "--prefix", prefix, *arguments).succeeded()
