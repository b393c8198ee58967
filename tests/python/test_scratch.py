"""Temporary folders: what a killed process left is removed, what a living one uses is not."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from executorch_backend_kit.aot.errors import ConfigurationError
from executorch_backend_kit.compare import Limits
from executorch_backend_kit.workers.scratch import Scratch

KILLED = """
import os, signal
from executorch_backend_kit.workers.scratch import Scratch
Scratch("test")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    alive = Scratch("test")
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    (tmp_path / "etbk-test-other").mkdir()  # without a lock: not ours to judge
    assert len(list(tmp_path.iterdir())) == 3
    again = Scratch("test")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {alive.path.name, again.path.name, "etbk-test-other"}
    alive.remove()
    again.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["etbk-test-other"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": float("nan")}, {"time_limit": float("inf")},
        {"tolerance": (float("inf"), 0.1)}, {"tolerance": (0.1, float("nan"))},
    ],
)  # fmt: skip
def test_limits_are_finite(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match="NUMBER-NOT-FINITE"):
        Limits(**wrong)  # type: ignore[arg-type]
