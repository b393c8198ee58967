"""Plugins that are wrong in one way each, and processes in which they meet a real runtime."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import executorch_backend_kit
import pytest
from bad_plugins import Run, Workshop

KIT = Path(executorch_backend_kit.__file__).parent


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Where plugins are made."""
    assert (KIT / "include").is_dir(), "the kit must be installed from its wheel"
    return Workshop(tmp_path_factory.mktemp("plugins"), KIT / "include")


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """run(*command, **variables): a command in an empty folder, free of the tester's settings."""
    home = tmp_path_factory.mktemp("home")

    def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ETBK_", "XDG_"))}
        environment = {**kept, "HOME": str(home), "COLUMNS": "200", **variables}
        return subprocess.run(
            command,
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def python(run: Run) -> Callable[..., Any]:
    """python(code, *arguments): runs code in a process of its own; reads JSON from its end."""

    def python(code: str, *arguments: str | Path) -> Any:
        result = run(sys.executable, "-W", "ignore", "-c", code, *arguments)
        assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
        return json.loads(result.stdout.splitlines()[-1])

    return python


@pytest.fixture(scope="session")
def etbk(run: Run) -> Run:
    """etbk(*arguments, **variables): the command."""
    return lambda *arguments, **variables: run(
        sys.executable, "-m", "executorch_backend_kit", *arguments, **variables
    )
