"""Where `etbk-run` is, and whether it can run what is installed: the worker without Python."""

from __future__ import annotations

from pathlib import Path

from executorch_backend_kit.host.errors import HostError
from executorch_backend_kit.host.runtime_location import locate_runtime
from executorch_backend_kit.report.finding import KitError

# Release lines of ExecuTorch whose kernels and backends are libraries that a program can load.
LINES = ("1.5",)
NAME = "etbk-run"


class RunnerMissingError(KitError):
    """etbk-run cannot be used here."""


def program() -> Path:
    """The program in this installation."""
    return Path(__file__).resolve().parents[1] / "bin" / NAME


def command(*words: str) -> list[str]:
    """The command line of etbk-run with the installed ExecuTorch; raises KitError."""
    location = locate_runtime()
    if location.line not in LINES:
        raise RunnerMissingError(
            "RUNNER-UNSUPPORTED",
            f"etbk-run works with ExecuTorch {' and '.join(LINES)}, and {location.version} is "
            "installed.",
            evidence="that release keeps its kernels inside a Python extension",
            fix="pip install 'executorch>=1.5,<1.6'",
        )
    if not program().is_file():
        raise RunnerMissingError(
            "RUNNER-MISSING",
            "This copy of executorch_backend_kit has no etbk-run.",
            evidence=f"path={program()}",
            fix="pip install executorch-backend-kit; in a source checkout build and install it "
            "first: scripts/install, or pip install .",
        )
    return [str(program()), *words, "--executorch", str(location.folder)]


def worker_command() -> list[str] | None:
    """The command of a worker; None where only Python can run programs."""
    try:
        return command("worker")
    except (HostError, RunnerMissingError):
        return None
