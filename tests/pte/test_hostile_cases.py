"""Recorded mutations of programs, with what ExecuTorch's own strict load did with each.

What it let through and then crashed on, or ended with an exception, must be refused here by a rule;
what ran must be accepted; what it refused must be refused too, before anything is loaded.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from executorch_backend_kit.pte import ProgramFile
from program_editor import Parts, take_apart

CASES = json.loads((Path(__file__).parent / "hostile_cases.json").read_text())


def tensor(parts: Parts) -> dict[str, Any]:
    """The first planned tensor."""
    return next(
        value["val"]
        for value in parts.values
        if value["val_type"] == "Tensor" and "allocation_info" in value["val"]
    )


def call(parts: Parts) -> dict[str, Any]:
    """The first call of a kernel or delegate."""
    return next(
        row["instr_args"]
        for row in parts.instructions
        if row["instr_args_type"] in ("KernelCall", "DelegateCall")
    )


def constant(parts: Parts) -> None:
    chosen = tensor(parts)
    del chosen["allocation_info"]
    chosen["data_buffer_idx"] = 9999


def wrong_index(parts: Parts) -> None:
    chosen = call(parts)
    chosen["op_index" if "op_index" in chosen else "delegate_index"] = 77


def many_plans(parts: Parts) -> None:
    for number in range(100):
        parts.document["execution_plan"].append(
            {**copy.deepcopy(parts.plan), "name": f"method_{number}"}
        )


MUTATIONS: dict[str, tuple[Callable[[Parts], object], set[str]]] = {
    "const buffer idx": (constant, {"PTE-411"}),
    "dim order out of range": (
        lambda p: tensor(p)["dim_order"].__setitem__(0, 99),
        {"PTE-407"},
    ),
    "empty operators": (lambda p: p.plan.update(operators=[]), {"PTE-506"}),
    "instr arg out of range": (
        lambda p: call(p)["args"].__setitem__(0, 1 << 20),
        {"PTE-505"},
    ),
    "instr op index": (wrong_index, {"PTE-506", "PTE-519"}),
    "many plans": (many_plans, set()),
    "mem offset huge": (
        lambda p: tensor(p)["allocation_info"].update(memory_offset_high=1 << 20),
        {"PTE-414"},
    ),
    "no chains": (lambda p: p.plan.update(chains=[]), {"PTE-501"}),
    "no values": (lambda p: p.plan.update(values=[]), {"PTE-207"}),
    "planned buffer huge": (
        lambda p: p.plan["non_const_buffer_sizes"].__setitem__(1, 1 << 62),
        {"PTE-431"},
    ),
    "sizes larger than buffer": (
        lambda p: tensor(p)["sizes"].__setitem__(0, 100_000),
        {"PTE-414"},
    ),
    "sizes overflow": (
        lambda p: tensor(p).update(sizes=[2**31 - 1] * len(tensor(p)["sizes"])),
        {"PTE-403"},
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['base']} {case['mutation']}")
def test_recorded_case(case: dict[str, str], tmp_path: Path, parts_folder: Path) -> None:
    parts = take_apart(case["base"], parts_folder)
    mutate, expected = MUTATIONS[case["mutation"]]
    mutate(parts)
    with ProgramFile.of_memory(parts.build(tmp_path)) as file:
        result = file.verify()
    codes = {finding.code for finding in result.findings}
    assert result.accepted == (case["runtime"] == "accepted and ran"), codes
    if not result.accepted:
        assert codes & expected, codes


def test_every_recorded_mutation_is_made() -> None:
    assert {case["mutation"] for case in CASES} == MUTATIONS.keys()
    assert len(CASES) == 24
