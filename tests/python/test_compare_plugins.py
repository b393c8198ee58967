"""Plugins in a comparison: one that works, and one row for each way to fail at run time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from executorch_backend_kit import sdk
from executorch_backend_kit.report import KitError
from harness import MODEL, VENDOR, Document, Etbk, install_entry_points

POINTS = (
    "adder", "unavailable", "init_fails", "execute_fails", "crashes", "wrong",
)  # fmt: skip


def build(folder: Path, name: str, *options: str) -> Path:
    """Compiles the toy plugin against the installed ABI header."""
    try:
        include = sdk.cmake_prefix() / "include"
    except KitError as error:
        pytest.skip(error.finding.message)
    library = folder / f"lib{name}.so"
    command = ["cc", "-std=gnu99", "-fPIC", "-shared", "-fvisibility=hidden", f"-I{include}"]
    subprocess.run(
        [*command, *options, str(VENDOR / "toy_plugin.c"), "-o", str(library)], check=True
    )
    return library


@pytest.fixture(scope="module")
def plugin_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables that install the toy vendor with its plugin."""
    folder = tmp_path_factory.mktemp("plugins")
    install_entry_points(folder / "site", POINTS)
    return {
        "PYTHONPATH": os.pathsep.join([str(VENDOR), str(folder / "site")]),
        "TOY_PLUGIN": str(build(folder, "toy")),
    }


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the smallest wrong programs go."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def compared(
    etbk: Etbk,
    plugin_environment: dict[str, str],
    kept: Path,
    validate: Callable[[Document], None],
) -> Document:
    names = [point.replace("_", "-") for point in POINTS]
    result = etbk(
        "compare", MODEL, "--backends", ",".join(["portable", *names, "adder+xnnpack"]),
        "--budget", "1", "--bisect", kept, "--json", **plugin_environment,
    )  # fmt: skip
    assert result.code == 1, result.out + result.err
    validate(result.document)
    return result.document


def row_of(document: Document, name: str) -> Document:
    row: Document = next(r for r in document["rows"] if r["configuration"] == name)
    return row


def test_a_working_plugin_passes(compared: Document) -> None:
    row = row_of(compared, "adder")
    assert (row["status"], row["findings"]) == ("ok", [])
    assert row["numerics"]["pass"]
    assert row["delegates"] == [{"name": "adder", "id": "AdderBackend", "count": 1}]


def test_a_plugin_and_a_stock_backend_share_a_model(compared: Document) -> None:
    row = row_of(compared, "adder+xnnpack")
    assert row["numerics"]["pass"]
    assert [d["id"] for d in row["delegates"]] == ["AdderBackend", "XnnpackBackend"]


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("unavailable", "RUNTIME-BACKEND-UNAVAILABLE", "the toy device is unplugged: plug it in"),
        ("init-fails", "RUNTIME-LOAD-FAILED", "the toy driver is older than 3.1: update it"),
        ("execute-fails", "RUNTIME-EXECUTE-FAILED", "ran out of credit: top it up"),
        ("crashes", "WORKER-KILLED", "killed by SIGABRT in stage 'first'"),
    ],
)
def test_a_failing_plugin_is_a_row_with_the_vendors_words(
    compared: Document, name: str, code: str, says: str
) -> None:
    row = row_of(compared, name)
    assert row["status"] == "failed"
    assert says in row["reason"]
    assert [f["code"] for f in row["findings"]] == [code]
    assert row["numerics"] is None


def test_a_plugin_that_hangs_is_ended(
    etbk: Etbk, plugin_environment: dict[str, str], compared: Document
) -> None:
    del compared  # it leaves the program in the cache
    result = etbk(
        "compare", MODEL, "--backends", "adder", "--time-limit", "15", "--json",
        TOY_HANGS="1", **plugin_environment,
    )  # fmt: skip
    assert result.code == 3
    (row,) = result.document["rows"]
    assert "no answer in stage 'first' for 15 s" in row["reason"]


def test_wrong_numbers_are_found_and_the_row_still_ran(compared: Document) -> None:
    row = row_of(compared, "wrong")
    assert row["status"] == "ok"
    assert not row["numerics"]["pass"]
    assert "1 of 8 elements of output 0 for input set 0" in row["numerics"]["reason"]
    assert [f["code"] for f in row["findings"]] == ["NUMERICS-WRONG", "BISECT-FOUND"]
    assert row["latency"]["median_ms"] > 0


def test_wrong_numbers_are_traced_to_their_node(
    compared: Document, kept: Path, etbk: Etbk, plugin_environment: dict[str, str]
) -> None:
    found = row_of(compared, "wrong")["bisect"]
    assert (found["node"], found["operator"], found["form"]) == ("add", "aten.add.Tensor", "alone")
    assert found["delegates"] == ["WrongBackend"]
    assert [row["bisect"] for row in compared["rows"]].count(None) == len(compared["rows"]) - 1
    program = Path(found["program"])
    assert kept in program.parents
    outputs = kept / "outputs"
    result = etbk(
        "run", program, "--inputs", Path(found["inputs"]) / "0", "--outputs", outputs,
        **plugin_environment,
    )  # fmt: skip
    assert result.code == 0, result.out
    got, want = ((f / "0.bin").read_bytes() for f in (outputs, Path(found["expected"]) / "0"))
    assert len(got) == len(want)
    assert got != want


def test_plugins_are_listed_with_their_fate(
    etbk: Etbk, plugin_environment: dict[str, str], validate: Callable[[Document], None]
) -> None:
    result = etbk("plugins", "--json", **plugin_environment)
    assert result.code == 0, result.err
    validate(result.document)
    plugin = next(p for p in result.document["plugins"] if p["name"] == "toy")
    assert (plugin["outcome"], plugin["origin"]) == ("registered", "installed")
    assert "AdderBackend" in result.document["registered"]
    names = [b["name"] for b in result.document["backends"]]
    assert {"xnnpack", "adder"} <= set(names)
    people = etbk("plugins", **plugin_environment).out
    assert "toy 1.0.0 by Toy: registered as AdderBackend" in people


def test_a_plugin_that_crashes_in_loading_is_named_and_the_others_are_listed(
    etbk: Etbk, plugin_environment: dict[str, str], tmp_path: Path,
    validate: Callable[[Document], None],
) -> None:  # fmt: skip
    crashing = build(tmp_path, "crashing", "-DCRASH_AT_ENTRY")
    result = etbk("plugins", "--json", ETBK_ADD_PLUGINS=str(crashing), **plugin_environment)
    assert result.code == 0, result.err
    validate(result.document)
    plugins = {Path(p["path"]).name: p for p in result.document["plugins"]}
    bad = plugins["libcrashing.so"]
    assert bad["outcome"] == "refused"
    assert [f["code"] for f in bad["findings"]][-1] == "PLUGIN-CRASHED"
    assert "SIGABRT" in bad["findings"][-1]["evidence"]
    assert plugins["libtoy.so"]["outcome"] == "registered"
    assert result.document["registered"] is None
