"""etbk-run without Python: good programs, damaged ones, what they need and what they cost."""

from __future__ import annotations

import json
import math
import os
import resource
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import executorch_backend_kit
import pytest
from program_editor import PROGRAMS, Parts, take_apart

Document = dict[str, Any]
RUNNER = Path(executorch_backend_kit.__file__).parent / "bin" / "etbk-run"
CNN = PROGRAMS / "cnn_portable.pte"
DELEGATED = PROGRAMS / "cnn_xnnpack.pte"


def etbk_run(*words: str | Path, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [RUNNER, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **changes},
    )


def run(*words: str | Path) -> tuple[int, Document]:
    done = etbk_run("run", *words, "--json")
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[str, Callable[[Parts], None]], Path]:
    """A stored program with a change."""

    def edit(name: str, change: Callable[[Parts], None]) -> Path:
        parts = take_apart(name, tmp_path)
        change(parts)
        path = tmp_path / "edited.pte"
        path.write_bytes(parts.build(tmp_path))
        return path

    return edit


Edited = Callable[[str, Callable[[Parts], None]], Path]


def codes(document: Document) -> list[str]:
    return [finding["code"] for finding in document["findings"]]


@pytest.mark.parametrize("name", ["cnn_portable", "cnn_xnnpack", "cond", "dyn", "emb", "mutable"])
def test_a_good_program_runs_through_every_stage(name: str) -> None:
    code, document = run(PROGRAMS / f"{name}.pte")
    assert (code, document["outcome"], codes(document)) == (0, "ran", [])
    stages = [row["stage"] for row in document["stages"]]
    assert [s for s in stages if s != "delegate"] == [
        "runtime", "prepare", "open", "program", "method", "inputs", "execute", "outputs",
    ]  # fmt: skip
    assert {row["status"] for row in document["stages"]} == {"ok"}
    assert ("delegate" in stages) == (name == "cnn_xnnpack")
    memory = document["memory"]
    assert memory["rss_mib"] == pytest.approx(memory["anon_rss_mib"] + memory["file_rss_mib"])
    assert memory["planned_bytes"]


def test_delegates_are_counted_and_timed() -> None:
    _, document = run(DELEGATED)
    (delegate,) = document["result"]["delegates"]
    assert (delegate["id"], delegate["calls"], delegate["initialized"]) == (
        "XnnpackBackend", 1, True,
    )  # fmt: skip
    assert delegate["init_ms"] > 0
    assert delegate["execute_ms"] > 0


def test_a_program_that_kills_the_stock_runtime_is_placed(edited: Edited) -> None:
    path = edited("cnn_portable.pte", lambda p: p.call().update(op_index=1000))
    code, document = run(path)
    assert code == 1
    assert (document["outcome"], document["signal"]["name"]) == ("crashed", "SIGSEGV")
    assert document["reached"]["stage"] == "execute"
    assert document["reached"]["instruction"] == {"chain": 0, "index": 0}
    crash, rule = document["findings"]
    assert crash["code"] == "RUN-CRASHED"
    assert "in stage 'execute' at instruction 0 of chain 0" in crash["message"]
    assert (rule["code"], rule["evidence"]) == ("PTE-506", "1000 of 6 operators")


def test_a_failing_delegate_is_named_by_index(edited: Edited) -> None:
    def damage(parts: Parts) -> None:
        parts.payload = parts.payload[:64] + bytes(200) + parts.payload[264:]

    code, document = run(edited("cnn_xnnpack.pte", damage))
    assert (code, document["outcome"]) == (1, "failed")
    assert document["reached"]["delegate"] == {"index": 0, "id": "XnnpackBackend"}
    assert document["error"]["name"] == "InvalidProgram"
    assert "in init of delegate 0 (XnnpackBackend)" in document["findings"][0]["evidence"]


def test_a_failing_instruction_is_named_with_its_operator(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    write_inputs(inputs, "float32", [1, 3, 8, 8])
    index = json.loads((inputs / "index.json").read_text())
    index[0]["dtype"] = "int32"
    (inputs / "index.json").write_text(json.dumps(index))
    code, document = run(CNN, "--inputs", inputs)
    assert (code, document["reached"]["stage"]) == (1, "inputs")
    assert document["error"]["name"] == "InvalidArgument"
    assert "input 0" in document["findings"][0]["evidence"]


@pytest.mark.parametrize(
    ("name", "change", "code", "says"),
    [
        (
            "cnn_xnnpack.pte",
            lambda p: p.plan["delegates"][0].update(id="NoSuchBackend"),
            "RUNTIME-BACKEND-MISSING",
            "needs backend NoSuchBackend",
        ),
        (
            "cnn_portable.pte",
            lambda p: p.plan["operators"][1].update(name="acme::nothing"),
            "RUNTIME-OPERATOR-MISSING",
            "acme::nothing.out",
        ),
    ],
)
def test_what_is_missing_is_found_before_running(
    edited: Edited, name: str, change: Callable[[Parts], None], code: str, says: str
) -> None:
    status, document = run(edited(name, change))
    assert (status, document["reached"]["stage"]) == (1, "prepare")
    assert document["findings"][0]["code"] == code
    assert says in document["findings"][0]["message"]


def write_inputs(folder: Path, dtype: str, sizes: list[int], value: float = 0.5) -> None:
    folder.mkdir()
    count = math.prod(sizes)
    (folder / "0.bin").write_bytes(struct.pack(f"<{count}f", *[value] * count))
    entry = {"kind": "tensor", "dtype": dtype, "sizes": sizes}
    entry |= {"dim_order": list(range(len(sizes))), "file": "0.bin"}
    (folder / "index.json").write_text(json.dumps([entry]))


def test_inputs_come_from_a_folder_and_outputs_go_to_one(tmp_path: Path) -> None:
    found = []
    for number, value in enumerate((0.5, 0.5, 0.75)):
        given, out = tmp_path / f"inputs{number}", tmp_path / f"outputs{number}"
        write_inputs(given, "float32", [1, 3, 8, 8], value)
        code, document = run(CNN, "--inputs", given, "--outputs", out)
        assert (code, document["result"]["inputs"]["source"]) == (0, "given")
        assert json.loads((out / "index.json").read_text())[0]["sizes"] == [1, 5]
        found.append((out / "0.bin").read_bytes())
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    "index",
    [
        "", "{}", "[1]", '[{"kind": "tensor"}]',
        '[{"kind": "tensor", "dtype": "int8", "sizes": [-1], "dim_order": [0], "file": "0.bin"}]',
        '[{"kind": "tensor", "dtype": "int8", "sizes": [1], "dim_order": [0], "file": "../x"}]',
    ],
)  # fmt: skip
def test_bad_inputs_are_a_sentence(tmp_path: Path, index: str) -> None:
    (tmp_path / "index.json").write_text(index)
    code, document = run(CNN, "--inputs", tmp_path)
    assert (code, codes(document)) == (1, ["RUN-INPUTS-UNREADABLE"])


def test_every_load_mode_works_and_others_are_refused(tmp_path: Path) -> None:
    for mode in ("File", "Mmap", "MmapUseMlockIgnoreErrors"):
        code, document = run(CNN, "--load-mode", mode, "--threads", "1")
        result = document["result"]
        assert (code, result["load_mode"], result["threads"]) == (0, mode, 1)
    code, document = run(CNN, "--load-mode", "Magic")
    assert (code, codes(document)) == (1, ["RUN-LOAD-MODE-UNKNOWN"])
    code, document = run(CNN, "--etdump", tmp_path / "dump")
    assert b"ED00" in (tmp_path / "dump").read_bytes()[:16]


def test_external_data_is_given_by_name() -> None:
    assert run(PROGRAMS / "lin_external.pte")[0] == 1
    (data,) = PROGRAMS.glob("*.ptd")
    assert run(PROGRAMS / "lin_external.pte", "--data", data)[0] == 0


def test_bench_measures_programs_in_turns() -> None:
    done = etbk_run("bench", CNN, DELEGATED, CNN.parent / "none.pte", "--budget", "0.2", "--json")
    rows = json.loads(done.stdout)["rows"]
    assert done.returncode == 1  # one of them is not there
    assert [row["latency"] is not None for row in rows] == [True, True, False]
    for row in rows[:2]:
        assert row["latency"]["median_ms"] >= row["latency"]["minimum_ms"] > 0
        assert row["load_ms"] > 0


def test_inspect_and_check_answer_without_a_run(tmp_path: Path) -> None:
    done = etbk_run("inspect", DELEGATED, ETBK_EXECUTORCH="/nowhere")  # needs no ExecuTorch
    assert json.loads(done.stdout)["methods"][0]["delegates"][0]["id"] == "XnnpackBackend"
    profile = tmp_path / "profile.json"
    assert etbk_run("profile", "--output", profile).returncode == 0
    names = {kernel["name"] for kernel in json.loads(profile.read_text())["kernels"]}
    assert {"aten::add.out", "aten::convolution.out"} <= names
    for words in (("check", CNN), ("check", CNN, "--runtime", profile)):
        done = etbk_run(*words)
        assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "compatible")


@pytest.mark.parametrize(
    ("content", "code"), [(None, 2), (b"", 2), (b"x" * 1000, 2), (b"cut", 0), (b"sound", 0)]
)
def test_inspect_ends_as_in_python(tmp_path: Path, content: bytes | None, code: int) -> None:
    path = tmp_path / "file.pte"
    sound = CNN.read_bytes()
    if content is not None:
        path.write_bytes({b"cut": sound[:300], b"sound": sound}.get(content, content))
    done = etbk_run("inspect", path)
    assert (done.returncode, json.loads(done.stdout)["path"]) == (code, str(path))


def test_inspect_starts_quickly() -> None:
    etbk_run("inspect", CNN)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(20):
        etbk_run("inspect", CNN)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent / 20 < 0.02  # processor time, fork included; 3 ms on an idle machine


def test_a_missing_runtime_is_said() -> None:
    done = etbk_run("run", CNN, "--executorch", "/nowhere", "--json")
    assert done.returncode == 1
    assert codes(json.loads(done.stdout)) == ["RUNNER-RUNTIME-MISSING"]


@pytest.mark.parametrize(
    "words",
    [
        (), ("dance",), ("run",), ("run", "a", "b"), ("run", "a", "--nothing"), ("run", "--inputs"),
        ("bench", "a", "--budget", "inf"), ("run", "a", "--time-limit", "nan"), ("inspect",),
        ("run", "a", "--threads", "0"),
    ],
)  # fmt: skip
def test_a_bad_command_line_is_exit_code_2(words: tuple[str, ...]) -> None:
    assert etbk_run(*words).returncode == 2


def test_a_program_that_is_not_there_is_exit_code_2(tmp_path: Path) -> None:
    assert run(tmp_path / "none.pte")[0] == 2


def test_a_hang_is_ended(edited: Edited) -> None:
    def loop(parts: Parts) -> None:
        jump = {"cond_value_index": 0, "destination_instruction": 0}
        parts.instructions.append({"instr_args_type": "JumpFalseCall", "instr_args": jump})
        parts.values.append({"val_type": "Bool", "val": {"bool_val": False}})
        jump["cond_value_index"] = len(parts.values) - 1

    begin = time.monotonic()
    code, document = run(edited("cnn_portable.pte", loop), "--time-limit", "1")
    assert (code, document["outcome"], document["findings"][0]["code"]) == (1, "hung", "RUN-HUNG")
    assert time.monotonic() - begin < 20
