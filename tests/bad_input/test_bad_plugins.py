"""Each kind of bad plugin, given to the real runtime by the Python API and by `etbk plugins`.

All are loaded into one process, one after the other: each must end as a finding with a sentence
and a cure, register nothing, and leave the process able to load a good plugin.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bad_plugins import Run, Workshop, note

Report = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A bad plugin, the code that it must end with, and what the sentence must tell."""

    make: Callable[[Workshop, str], Path]
    code: str
    says: tuple[str, ...] = ()


def built(*defines: str, **options: str) -> Callable[[Workshop, str], Path]:
    return lambda workshop, name: workshop.build(name, *defines, **options)


def missing(workshop: Workshop, name: str) -> Path:
    return workshop.folder / f"lib{name}.so"


def folder(workshop: Workshop, name: str) -> Path:
    path = workshop.folder / f"lib{name}.so"
    path.mkdir(exist_ok=True)
    return path


def file(content: bytes) -> Callable[[Workshop, str], Path]:
    return lambda workshop, name: workshop.write(f"lib{name}.so", content)


def truncated(workshop: Workshop, name: str) -> Path:
    whole = workshop.build(name).read_bytes()
    return workshop.write(f"lib{name}.so", whole[: len(whole) // 2])


def manifest(**changes: Any) -> Callable[[Workshop, str], Path]:
    return lambda workshop, name: workshop.manifest(workshop.build(name), **changes)


def broken_manifest(workshop: Workshop, name: str) -> Path:
    return workshop.write(f"lib{name}.json", b'{"schema": "etbk.manifest/1", "name": ')


CASES = {
    # the file
    "missing": Case(missing, "PLUGIN-FILE-MISSING", ("does not exist",)),
    "folder": Case(folder, "PLUGIN-NOT-A-LIBRARY", ("not a regular file",)),
    "empty": Case(file(b""), "PLUGIN-NOT-A-LIBRARY"),
    "text": Case(file(b"#!/bin/sh\necho no library\n"), "PLUGIN-NOT-A-LIBRARY"),
    "header_only": Case(file(b"\x7fELF\x02\x01\x01"), "PLUGIN-DAMAGED"),
    "truncated": Case(truncated, "PLUGIN-DAMAGED"),
    "other_machine": Case(
        built(compiler="aarch64-linux-gnu-g++"), "PLUGIN-ARCHITECTURE", ("AArch64", "x86-64")
    ),
    # the note
    "no_note": Case(built("NO_NOTE"), "PLUGIN-NOTE-MISSING"),
    "bad_note": Case(built('NOTE="no keys here"'), "PLUGIN-NOTE-INVALID"),
    "abi_older": Case(
        built("MINOR_NEEDED=8", abi="0.8"), "PLUGIN-ABI-TOO-OLD", ("0.8", "0.9", "too old")
    ),
    "abi_newer": Case(
        built("MINOR_NEEDED=12", abi="0.12"), "PLUGIN-ABI-TOO-NEW", ("0.12", "0.9", "too old for")
    ),
    "abi_next_major": Case(
        built("MINOR_NEEDED=0", abi="1.0"), "PLUGIN-ABI-TOO-NEW", ("1.0", "0.9")
    ),
    # loading and the entry
    "undefined": Case(built("UNDEFINED"), "PLUGIN-LOAD-FAILED", ("bad_driver_open",)),
    "no_entry": Case(built("NO_ENTRY"), "PLUGIN-ENTRY-MISSING", ("etbk_plugin_entry",)),
    "entry_fails": Case(
        built("ENTRY_STATUS=ETBK_STATUS_ACCESS_FAILED"), "PLUGIN-ENTRY-FAILED", ("access",)
    ),
    "entry_throws": Case(
        built("ENTRY_THROWS"), "PLUGIN-ENTRY-FAILED", ("the Bad driver is not installed",)
    ),
    "no_tables": Case(built("TABLES=plugin->backends=nullptr"), "PLUGIN-ENTRY-INVALID", ("null",)),
    "no_backends": Case(built("TABLES=plugin->backend_count=0"), "PLUGIN-ENTRY-INVALID", ("0",)),
    "no_execute": Case(built("WITHOUT_EXECUTE"), "PLUGIN-ENTRY-INVALID", ("execute",)),
    "other_id": Case(
        built(note("OtherBackend")), "PLUGIN-NOTE-DISAGREES", ("OtherBackend", "BadBackend")
    ),
    # the id
    "stock_id": Case(
        built('ID="XnnpackBackend"', note("XnnpackBackend")),
        "BACKEND-DUPLICATE-ID",
        ("XnnpackBackend", "already held"),
    ),
    # the manifest
    "manifest_broken": Case(broken_manifest, "MANIFEST-INVALID", ("not JSON",)),
    "manifest_incomplete": Case(manifest(library=None), "MANIFEST-INVALID", ("library",)),
    "manifest_other_id": Case(
        manifest(backends=["OtherBackend"]), "MANIFEST-DISAGREES", ("OtherBackend", "BadBackend")
    ),
    "manifest_other_abi": Case(
        manifest(abi={"major": 0, "minor": 11, "minor_needed": 11}), "MANIFEST-DISAGREES", ("0.11",)
    ),
    "manifest_of_nothing": Case(
        manifest(library="libgone.so"), "PLUGIN-FILE-MISSING", ("libgone",)
    ),
}

LOAD_ALL = """
import json, sys
from executorch.runtime import Runtime
from executorch_backend_kit import host
names = lambda: Runtime.get().backend_registry.registered_backend_names
before = names()
plugins = [host.load_plugin(path).to_json() for path in sys.argv[1:]]
print(json.dumps({"plugins": plugins, "before": before, "after": names()}))
"""


@pytest.fixture(scope="module")
def paths(workshop: Workshop) -> dict[str, Path]:
    """A file for each case; a case whose compiler is missing has none."""
    return {
        name: case.make(workshop, name)
        for name, case in CASES.items()
        if name != "other_machine" or shutil.which("aarch64-linux-gnu-g++")
    }


@pytest.fixture(scope="module")
def good(workshop: Workshop) -> Path:
    return workshop.build("good")


@pytest.fixture(scope="module")
def loaded(paths: dict[str, Path], good: Path, python: Callable[..., Any]) -> Report:
    """What the Python API said of each, and last of a good plugin."""
    report: Report = python(LOAD_ALL, *paths.values(), good)
    names = [*paths, "good"]
    return {**report, "plugins": dict(zip(names, report["plugins"], strict=True))}


@pytest.fixture(scope="module")
def listed(paths: dict[str, Path], good: Path, etbk: Run) -> Report:
    """What `etbk plugins --json` said of each, by path. A folder is searched there, not judged."""
    every = ":".join(str(path) for path in [*paths.values(), good] if not path.is_dir())
    result = etbk("plugins", "--json", ETBK_PLUGINS=every)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["schema"] == "etbk.plugins/1"
    return {plugin["manifest"] or plugin["path"]: plugin for plugin in document["plugins"]}


def check(plugin: Report, case: Case) -> None:
    assert plugin["outcome"] == "refused"
    (finding,) = (found for found in plugin["findings"] if found["severity"] == "error")
    assert finding["code"] == case.code
    message = finding["message"]
    for part in case.says:
        assert part in message, message
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 500, "a sentence, not a page"
    assert finding["evidence"]
    assert finding["fix"].endswith((".", "LIBRARY", "again.")), finding["fix"]


@pytest.mark.parametrize("name", CASES)
def test_python_names_what_is_wrong_and_the_cure(loaded: Report, name: str) -> None:
    if name not in loaded["plugins"]:
        pytest.skip("the cross compiler is not installed")
    check(loaded["plugins"][name], CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_the_command_says_the_same(listed: Report, paths: dict[str, Path], name: str) -> None:
    if name not in paths:
        pytest.skip("the cross compiler is not installed")
    if not paths[name].is_dir():
        check(listed[str(paths[name])], CASES[name])


def test_nothing_bad_is_registered_and_a_good_one_still_is(loaded: Report) -> None:
    assert loaded["plugins"]["good"]["outcome"] == "registered"
    assert loaded["after"] == [*loaded["before"], "BadBackend"]


def test_a_person_reads_each_code_and_cure(
    paths: dict[str, Path], listed: Report, etbk: Run
) -> None:
    result = etbk("plugins", ETBK_PLUGINS=":".join(map(str, paths.values())))
    assert result.returncode == 0
    text = " ".join(result.stdout.split())
    for plugin in listed.values():
        for finding in plugin["findings"]:
            assert finding["code"] in text
            assert " ".join(finding["fix"].split()) in text


@pytest.mark.parametrize("defect", ["ENTRY_CRASHES", "CONSTRUCTOR_CRASHES"])
def test_a_plugin_that_crashes_is_a_line_in_the_list(
    workshop: Workshop, good: Path, etbk: Run, defect: str
) -> None:
    identity = ("NAME=crashing", note("BadBackend", name="crashing"))
    crashing = workshop.build(defect.lower(), defect, *identity)
    result = etbk("plugins", "--json", ETBK_PLUGINS=f"{crashing}:{good}")
    assert result.returncode == 0, result.stderr
    plugins = {plugin["path"]: plugin for plugin in json.loads(result.stdout)["plugins"]}
    assert [f["code"] for f in plugins[str(crashing)]["findings"]] == ["PLUGIN-CRASHED"]
    assert "ETBK_DISABLE=crashing" in plugins[str(crashing)]["findings"][0]["fix"]
    assert plugins[str(good)]["outcome"] == "registered"


def test_the_seventeenth_backend_is_refused_with_the_names_of_the_sixteen(
    workshop: Workshop, python: Callable[..., Any]
) -> None:
    """One plugin with 17 ids meets the three of ExecuTorch: 13 find a slot."""
    ids = [f"BadBackend{'0123456789abcdefg'[i]}" for i in range(17)]
    report = python(LOAD_ALL, workshop.build("many", "COUNT=17", note(*ids)))
    free = 16 - len(report["before"])
    assert report["after"] == [*report["before"], *ids[:free]]
    findings = report["plugins"][0]["findings"]
    assert [finding["code"] for finding in findings] == ["REGISTRY-FULL"] * (17 - free)
    assert f"'{ids[free]}'" in findings[0]["message"]
    assert all(name in findings[0]["evidence"] for name in report["after"])
