"""The main job from end to end: good rows, bad rows, and what each leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import (
    MODEL,
    VENDOR,
    Document,
    Etbk,
    codes,
    environment,
    install_entry_points,
)

POINTS = ("unregistered", "throws", "cannot_compile", "dies", "misnamed", "old", "needs_more")


@pytest.fixture(scope="session")
def vendor_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PYTHONPATH with the toy vendor installed."""
    site = tmp_path_factory.mktemp("site")
    install_entry_points(site, POINTS)
    return os.pathsep.join([str(VENDOR), str(site)])


@pytest.fixture(scope="module")
def good(etbk: Etbk, validate: Callable[[Document], None]) -> Document:
    """portable against XNNPACK twice."""
    result = etbk(
        "compare", MODEL, "--backends", "portable,xnnpack,xnnpack", "--baseline", "xnnpack",
        "--budget", "4", "--json",
    )  # fmt: skip
    assert result.code == 0, result.out + result.err
    validate(result.document)
    return result.document


def test_every_row_passes_the_numeric_check(good: Document) -> None:
    for row in good["rows"]:
        assert (row["status"], row["reason"]) == ("ok", "")
        assert row["numerics"]["pass"]
        assert row["numerics"]["max_abs_error"] < 1e-5
        assert row["numerics"]["cosine"] > 0.9999


def test_delegates_are_counted_by_id(good: Document) -> None:
    delegates = [row["delegates"] for row in good["rows"]]
    xnnpack = [{"name": "xnnpack", "id": "XnnpackBackend", "count": 1}]
    assert delegates == [[], xnnpack, xnnpack]
    assert [row["delegated"]["nodes"] for row in good["rows"]] == [0, 1, 1]


def test_calls_of_delegates_are_seen_and_no_proof_of_an_accelerator(good: Document) -> None:
    portable, *delegated = (row["accelerator"] for row in good["rows"])
    assert (portable["calls"], portable["evidence"]) == (None, "none")
    for accelerator in delegated:
        assert (accelerator["calls"], accelerator["evidence"]) == (1, "event trace")
        assert 0 < accelerator["time_share"] <= 1
        assert accelerator["device"] is None


def test_costs_are_measured_and_the_load_mode_is_named(good: Document) -> None:
    for row in good["rows"]:
        assert row["load_mode"] == "MmapUseMlockIgnoreErrors"
        assert row["load_ms"] > 0
        assert row["first_ms"] > 0
        assert row["pte_bytes"] > 500
        assert row["rss_mib"] >= row["anon_rss_mib"] >= 0
        assert row["rss_mib"] == pytest.approx(row["anon_rss_mib"] + row["file_rss_mib"])
        assert (row["worker"], len(row["planned_bytes"])) == ("etbk-run", 1)


def test_the_same_configuration_twice_stays_two_rows(good: Document) -> None:
    assert [row["configuration"] for row in good["rows"]] == ["portable", "xnnpack", "xnnpack"]
    assert (good["baseline"], good["baseline_row"]) == ("xnnpack", 1)
    baseline, twin = (row["latency"] for row in good["rows"][1:])
    assert (baseline["ratio_to_baseline"], baseline["verdict"]) == (1, "tie")
    # That it ties is a matter of timing, which test_statistics shows on made-up times.
    assert twin["verdict"] in ("win", "tie", "loss")
    assert twin["interval"][0] <= twin["ratio_to_baseline"] <= twin["interval"][1]


def test_the_model_describes_every_row(good: Document) -> None:
    assert good["described"]["sets"] == "2"
    assert [row["described"] for row in good["rows"]] == [good["described"]] * 3


def test_inputs_and_environment_are_recorded(good: Document) -> None:
    tensor = {"kind": "tensor", "dtype": "float32", "sizes": [2, 8]}
    assert good["inputs"] == [[tensor], [tensor]]
    assert good["environment"]["executorch"].startswith("1.")
    assert set(good["seconds"]) == {"model", "lower", "first runs", "measure", "total"}


@pytest.fixture(scope="module")
def bad(etbk: Etbk, vendor_path: str, validate: Callable[[Document], None]) -> Document:
    """Good rows among rows that fail in every way that needs no plugin; the baseline is one."""
    names = [p.replace("_", "-") for p in POINTS]
    backends = ",".join([*names, "xnnpack+unregistered", "portable"])
    result = etbk(
        "compare", MODEL, "--backends", backends, "--budget", "0.1", "--json",
        PYTHONPATH=vendor_path,
    )  # fmt: skip
    assert result.code == 1, result.out + result.err
    validate(result.document)
    return result.document


def row_of(document: Document, name: str) -> Document:
    row: Document = next(r for r in document["rows"] if r["configuration"] == name)
    return row


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("unregistered", "RUNTIME-BACKEND-MISSING", "backend UnregisteredBackend"),
        ("throws", "BACKEND-PARTITIONER-FAILED", "Backend throws"),
        ("cannot-compile", "BACKEND-COMPILE-FAILED", "Backend cannot-compile"),
        ("dies", "WORKER-KILLED", "killed by SIGSEGV in stage 'lower'"),
        ("misnamed", "BACKEND-ID-MISMATCH", "UnregisteredBackend"),
        ("old", "BACKEND-VERSION-UNSUPPORTED", "does not support ExecuTorch"),
        ("needs-more", "BACKEND-REQUIREMENT-MISSING", "no_such_module"),
    ],
)
def test_a_failing_configuration_is_a_row_with_its_reason(
    bad: Document, name: str, code: str, says: str
) -> None:
    row = row_of(bad, name)
    assert row["status"] == "failed"
    assert says in row["reason"]
    assert [f["code"] for f in row["findings"]] == [code]
    assert row["findings"][0]["fix"]
    assert row["latency"] is None


def test_failing_rows_leave_the_good_one_alone(bad: Document) -> None:
    row = row_of(bad, "portable")
    assert row["status"] == "ok"
    assert row["numerics"]["pass"]


def test_a_failed_baseline_is_said_and_no_ratio_is_made_up(bad: Document) -> None:
    assert codes(bad) == ["BASELINE-FAILED"]
    latency = row_of(bad, "portable")["latency"]
    assert latency["median_ms"] > 0
    assert (latency["ratio_to_baseline"], latency["verdict"]) == (None, None)


def test_a_backend_that_takes_nothing_is_said_and_the_row_runs(bad: Document) -> None:
    row = row_of(bad, "xnnpack+unregistered")
    assert (row["status"], row["operators_left"]) == ("ok", {})
    assert [f["code"] for f in row["findings"]] == ["BACKEND-TOOK-NOTHING"]


def test_an_unregistered_backend_is_reported_with_what_is_known(bad: Document) -> None:
    row = row_of(bad, "unregistered")
    assert row["delegates"] == [{"name": "unregistered", "id": "UnregisteredBackend", "count": 1}]
    assert row["pte_bytes"] > 0
    assert "XnnpackBackend" in row["findings"][0]["evidence"]


def test_failed_lowerings_leave_nothing_in_the_cache(bad: Document, cache: Path) -> None:
    del bad
    assert list((cache / "staging").iterdir()) == []
    for entry in (cache / "keys").iterdir():
        program = json.loads(entry.read_text())["sha256"]
        assert (cache / "programs" / f"{program}.pte").is_file()


def test_nothing_that_could_run_is_exit_code_3(etbk: Etbk, vendor_path: str) -> None:
    result = etbk("compare", MODEL, "--backends", "old", "--json", PYTHONPATH=vendor_path)
    assert result.code == 3
    assert result.document["rows"][0]["status"] == "failed"


def test_a_cache_that_cannot_be_written_is_said_and_the_answer_stays(
    etbk: Etbk, tmp_path: Path
) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    result = etbk(
        "compare", MODEL, "--backends", "portable", "--budget", "0.1", "--json",
        ETBK_CACHE=str(blocker / "cache"),
    )  # fmt: skip
    assert result.code == 0
    assert codes(result.document) == ["CACHE-NOT-WRITABLE"]
    assert blocker.read_text() == ""


def test_a_full_disk_is_said_and_nothing_is_left(etbk: Etbk, tmp_path: Path) -> None:
    result = etbk(
        "compare", MODEL, "--backends", "portable", largest_file=4096, ETBK_CACHE=str(tmp_path)
    )
    assert result.code == 3
    assert "error[PROGRAM-NOT-WRITTEN]" in result.err
    assert "TMPDIR" in result.err
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_cache_is_said_and_made_good(etbk: Etbk, cache: Path, good: Document) -> None:
    del good
    for program in (cache / "programs").iterdir():
        content = bytearray(program.read_bytes())
        content[-1] ^= 1
        program.write_bytes(content)
    arguments = ("compare", MODEL, "--backends", "portable", "--budget", "0.1", "--json")
    first, second = etbk(*arguments), etbk(*arguments, "--rtol", "0.5")
    assert (first.code, second.code) == (0, 0)
    assert codes(first.document) == ["CACHE-DAMAGED"]
    assert codes(second.document) == []
    (row,) = second.document["rows"]
    assert row["lowering"]["cached"] is True
    assert row["numerics"]["tolerance"] == {"rtol": 0.5, "atol": 1e-4}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_comparison_leaves_nothing(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    scratch, cache = tmp_path / "scratch", tmp_path / "cache"
    scratch.mkdir()
    changes = {"TMPDIR": str(scratch), "ETBK_CACHE": str(cache)}
    command = ["compare", str(MODEL), "--backends", "portable,xnnpack"]
    process = subprocess.Popen(
        [sys.executable, "-m", "executorch_backend_kit", *command],
        env=environment(**changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(scratch.glob("*/program.pt2")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert out == ""
    assert list(scratch.iterdir()) == []
    assert [p for p in cache.rglob("*") if p.is_file()] == []


def test_an_interrupted_measurement_keeps_what_it_has(
    tmp_path: Path, cache: Path, validate: Callable[[Document], None]
) -> None:
    model = tmp_path / "models" / "slow.py"  # many ms a run: measuring takes half a minute
    model.parent.mkdir()
    model.write_text(
        "import torch\ndef model(): return torch.nn.Linear(512, 512).eval()\n"
        "def example_inputs(): return (torch.ones(64, 512),)\n"
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = ["compare", str(model), "--backends", "portable,portable", "--budget", "300", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "executorch_backend_kit", *words],
        env=environment(TMPDIR=str(scratch), ETBK_CACHE=str(cache)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not list(scratch.glob("*/outputs-1/*/index.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in err) == (130, False)
    document = json.loads(out)
    validate(document)
    assert "COMPARISON-INTERRUPTED" in codes(document)
    assert all(row["numerics"]["pass"] for row in document["rows"])
    assert list(scratch.iterdir()) == []


def test_sizes_may_change_and_options_reach_the_backend(etbk: Etbk, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        "import torch\n"
        "def model(): return torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Tanh()).eval()\n"
        "def example_inputs(): return [(torch.ones(n, 8),) for n in (2, 5, 1)]\n"
        "def dynamic_shapes(): return ({0: torch.export.Dim('batch', max=16)},)\n"
    )
    result = etbk(
        "compare", file, "--backends", "xnnpack", "--option", "xnnpack.per_op_mode=true",
        "--budget", "0.1", "--json",
    )  # fmt: skip
    assert result.code == 0, result.out + result.err
    assert [values[0]["sizes"] for values in result.document["inputs"]] == [[2, 8], [5, 8], [1, 8]]
    assert result.document["rows"][0]["delegates"][0]["count"] == 2
