"""The plugin boundary's cost in instructions, which no load of the machine changes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 60
"""Instructions more per execute with four tensors than a direct backend that does nothing."""


@pytest.fixture(scope="module")
def report() -> dict[str, dict[str, float]]:
    command = [
        sys.executable, str(ROOT / "benchmarks" / "host" / "run"),
        "--json", "--rounds", "5", "--executes", "2000",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded: dict[str, dict[str, float]] = json.loads(done.stdout)
    return loaded


def test_an_empty_execute_costs_at_most_the_limit_more(report: dict[str, dict[str, float]]) -> None:
    assert 0 < report["noop"]["added_instructions"] <= LIMIT


def test_an_execute_that_reads_its_tensors_costs_at_most_the_limit_more(
    report: dict[str, dict[str, float]],
) -> None:
    assert report["add"]["added_instructions"] <= LIMIT
