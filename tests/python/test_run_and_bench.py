"""`etbk run` and `etbk bench`: finished programs, good and bad, as a person runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Document, Etbk
from program_editor import PROGRAMS, take_apart

CNN = PROGRAMS / "cnn_portable.pte"
DELEGATED = PROGRAMS / "cnn_xnnpack.pte"
Validate = Callable[[Document], None]


def test_a_good_program_runs(etbk: Etbk, validate: Validate) -> None:
    result = etbk("run", DELEGATED, "--json")
    assert result.code == 0, result.err
    validate(result.document)
    assert result.document["outcome"] == "ran"
    said = etbk("run", DELEGATED).out
    assert "delegate 0: XnnpackBackend" in said
    assert "memory: planned" in said


def test_a_crash_is_placed_and_the_exit_code_is_1(
    etbk: Etbk, validate: Validate, tmp_path: Path
) -> None:
    parts = take_apart("cnn_portable.pte", tmp_path)
    parts.call()["op_index"] = 1000
    path = tmp_path / "crashing.pte"
    path.write_bytes(parts.build(tmp_path))
    result = etbk("run", path, "--json")
    assert result.code == 1
    validate(result.document)
    assert result.document["findings"][0]["code"] == "RUN-CRASHED"
    assert "instruction 0 of chain 0" in result.document["findings"][0]["message"]


def test_an_error_is_explained(etbk: Etbk, validate: Validate, tmp_path: Path) -> None:
    parts = take_apart("cnn_xnnpack.pte", tmp_path)
    parts.payload = b"\xa5" * len(parts.payload)
    path = tmp_path / "damaged.pte"
    path.write_bytes(parts.build(tmp_path))
    result = etbk("run", path, "--json")
    assert result.code == 1
    validate(result.document)
    assert result.document["reached"]["delegate"] == {"index": 0, "id": "XnnpackBackend"}
    assert all(result.document["error"][key] for key in ("name", "meaning", "cause", "next"))


def test_inputs_of_torch_and_outputs_in_files(etbk: Etbk, tmp_path: Path) -> None:
    import torch

    torch.save(torch.ones(1, 3, 8, 8), tmp_path / "inputs.pt")
    result = etbk(
        "run", CNN, "--inputs", tmp_path / "inputs.pt", "--outputs", tmp_path / "out", "--json"
    )
    assert result.code == 0, result.out + result.err
    assert result.document["result"]["inputs"]["source"] == "given"
    assert json.loads((tmp_path / "out" / "index.json").read_text())[0]["sizes"] == [1, 5]


def test_bench_compares_files(etbk: Etbk, validate: Validate) -> None:
    result = etbk("bench", CNN, DELEGATED, "--budget", "0.5", "--json")
    assert result.code == 0, result.err
    validate(result.document)
    first, second = result.document["rows"]
    assert first["latency"]["ratio_to_baseline"] == 1
    assert second["latency"]["ratio_to_baseline"] < 1
    assert second["delegates"][0]["calls"] == 1
    assert "cnn_xnnpack.pte" in etbk("bench", CNN, DELEGATED, "--budget", "0").out


def test_a_program_that_fails_is_a_row(etbk: Etbk, validate: Validate, tmp_path: Path) -> None:
    (tmp_path / "empty.pte").write_bytes(b"")
    result = etbk("bench", CNN, tmp_path / "empty.pte", "--budget", "0", "--json")
    assert result.code == 1
    validate(result.document)
    assert [row["status"] for row in result.document["rows"]] == ["ok", "failed"]


@pytest.mark.parametrize(
    "words",
    [
        ("run", "none.pte"), ("run", CNN, "--time-limit", "inf"), ("bench", CNN, "--budget", "nan"),
        ("bench", "none.pte"), ("run", CNN, "--inputs", "none.pt"),
    ],
)  # fmt: skip
def test_bad_requests_are_exit_code_2(etbk: Etbk, words: tuple[str | Path, ...]) -> None:
    assert etbk(*words, "--json").code == 2
