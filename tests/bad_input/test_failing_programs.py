"""Programs whose backend is not there or fails: what ExecuTorch's own API and the host then say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bad_plugins import Workshop

HERE = Path(__file__).resolve().parent

LOWER = """
import sys
sys.path.insert(0, sys.argv[1])
import addition, faulty_backends, torch
from executorch.exir import to_edge_transform_and_lower
exported = torch.export.export(addition.model(), addition.example_inputs())
program = to_edge_transform_and_lower(
    exported, partitioner=[faulty_backends.partitioner("BadBackend")]
).to_executorch()
open(sys.argv[2], "wb").write(program.buffer)
print("null")
"""

RUN = """
import json, sys, torch
from executorch.runtime import Runtime
from executorch_backend_kit import host
program, plugins = sys.argv[1], sys.argv[2:]
outcomes = [host.load_plugin(path).outcome.value for path in plugins]
stage = "load"
answer = {"outcomes": outcomes, "error": ""}
try:
    method = Runtime.get().load_program(program).load_method("forward")
    stage = "execute"
    method.execute([torch.ones(2, 3), torch.ones(2, 3)])
    stage = "done"
except RuntimeError as error:
    answer["error"] = str(error)
records = host.recent_errors()
answer |= {"stage": stage, "last_error": host.last_error(),
           "records": [[r.backend, r.stage, r.text] for r in records]}
print(json.dumps(answer))
"""


@pytest.fixture(scope="module")
def program(python: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One addition, delegated to BadBackend."""
    path = tmp_path_factory.mktemp("programs") / "bad.pte"
    python(LOWER, HERE, path)
    return path


def test_a_program_for_an_unknown_backend_is_refused(
    program: Path, python: Callable[..., Any]
) -> None:
    """ExecuTorch has a number for it; nothing of ours ran, so the host adds nothing false."""
    answer = python(RUN, program)
    assert answer["stage"] == "load"
    assert answer["error"].endswith("0x:20")
    assert answer["last_error"] == ""


@pytest.mark.parametrize(
    ("define", "stage", "number", "says"),
    [
        (
            "AVAILABLE=ETBK_STATUS_UNAVAILABLE",
            "is_available",
            "0x:20",
            "the Bad device is unplugged: plug it in",
        ),
        (
            "INIT=ETBK_STATUS_INCOMPATIBLE_BLOB",
            "init",
            "0x:30",
            "the Bad driver is older than 3.1: update it",
        ),
        ("INIT=0x7777", "init", "0x:1", "the Bad driver is older than 3.1: update it"),
        (
            "EXECUTE=ETBK_STATUS_OUT_OF_RESOURCES",
            "execute",
            "0x25",
            "the Bad device ran out of credit: top it up",
        ),
    ],
)
def test_a_failing_backend_is_heard(  # noqa: PLR0917 - fixtures and the columns of the table
    program: Path,
    workshop: Workshop,
    python: Callable[..., Any],
    define: str,
    stage: str,
    number: str,
    says: str,
) -> None:
    plugin = workshop.build("fails_" + define.replace("=", "_").lower(), define)
    answer = python(RUN, program, plugin)
    assert answer["outcomes"] == ["registered"]
    assert answer["stage"] == ("execute" if stage == "execute" else "load")
    assert answer["error"].endswith(number)
    assert says in answer["last_error"]
    assert "BadBackend" in answer["last_error"]
    assert [record[:2] for record in answer["records"]] == [["BadBackend", stage]]
    assert says in answer["records"][0][2]
