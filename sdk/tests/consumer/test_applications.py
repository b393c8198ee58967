"""An application gets its backends however it links them, and is told when it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from consumer_projects import Finished, Project, run

EXPECTED = "output: 13 13 13 13 13 13"


def start(application: Project, program: str, model: Path) -> Finished:
    return run(application.build / program, model)


def backends(finished: Finished) -> list[str]:
    (line,) = [line for line in finished.output.splitlines() if line.startswith("backends:")]
    return line.split()[1:]


@pytest.mark.parametrize(
    "program", ["loaded", "shared", "static", "mixed", "indirect", "in_module"]
)
def test_two_vendors_run_in_one_program(application: Project, model: Path, program: str) -> None:
    finished = start(application, program, model).succeeded()
    assert sorted(backends(finished)) == ["ProductBackend", "SumBackend"]
    assert EXPECTED in finished.output
    assert "executorch-backend-kit:" not in finished.output  # nothing to complain about


@pytest.mark.parametrize("program", ["stripped_shared", "stripped_static"])
def test_a_plain_link_loses_the_backend(application: Project, model: Path, program: str) -> None:
    """The negative control: this is what the package's targets protect from."""
    finished = start(application, program, model)
    assert finished.status == 1
    assert backends(finished) == []


@pytest.mark.parametrize("program", ["own_shared", "own_static"])
def test_a_backend_of_the_same_project(application: Project, model: Path, program: str) -> None:
    assert backends(start(application, program, model)) == ["MinimalBackend"]


def test_a_clash_of_ids_is_told_before_main(application: Project, model: Path) -> None:
    finished = start(application, "clash", model)
    assert "BACKEND-DUPLICATE-ID" in finished.output
    assert "SumBackend" in finished.output
    assert EXPECTED in finished.output  # the first one stays
