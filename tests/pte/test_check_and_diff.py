"""`etbk inspect`, `check` and `diff` from Python and from the command line."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from executorch_backend_kit.cli.app import app
from executorch_backend_kit.pte import (
    Envelope,
    ProgramFile,
    PteError,
    check,
    diff,
    for_cmake,
    grade,
    of_binary,
    recorded,
    seal,
    this_machine,
)
from program_editor import PROGRAMS, take_apart
from typer.testing import CliRunner

ALL_KERNELS = [
    "aten::convolution.out",
    "aten::relu.out",
    "aten::max_pool2d_with_indices.out",
    "aten::permute_copy.out",
    "aten::addmm.out",
    "aten::_softmax.out",
]


def profile(*, backends: list[str], kernels: list[str] | None, **more: Any) -> dict[str, Any]:
    return {
        "schema": "etbk.profile/1",
        "kind": "runtime",
        "arch": "x86_64",
        "backends": [{"id": name, "available": True} for name in backends],
        "kernels": None if kernels is None else [{"name": name, "keys": [""]} for name in kernels],
        **more,
    }


def etbk(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "executorch_backend_kit", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def judge(content: bytes, runtime: dict[str, Any]) -> tuple[str, list[str]]:
    with ProgramFile.of_memory(content) as file:
        document = check(file, runtime)
    return document["verdict"], [finding["code"] for finding in document["findings"]]


def mixed_program(
    tmp_path: Path, parts_folder: Path, blob: bytes = b"blob", backend: str = "AcmeBackend"
) -> bytes:
    """The portable CNN with a delegate beside its kernels."""
    parts = take_apart("cnn_portable.pte", parts_folder)
    place = len(parts.payload)
    place += -place % 64
    parts.document["segments"].append({"offset": place, "size": len(blob)})
    parts.plan["delegates"] = [{"id": backend, "processed": {"location": "SEGMENT", "index": 1}}]
    parts.payload = parts.payload.ljust(place, b"\0") + blob
    return parts.build(tmp_path)


def test_a_missing_kernel_and_a_missing_backend_are_named_in_one_run(
    tmp_path: Path, parts_folder: Path
) -> None:
    program = tmp_path / "mixed.pte"
    program.write_bytes(mixed_program(tmp_path, parts_folder))
    runtime = tmp_path / "profile.json"
    runtime.write_text(json.dumps(profile(backends=[], kernels=ALL_KERNELS[1:])))
    result = etbk("check", program, "--runtime", runtime, "--json")
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert document["verdict"] == "blocked"
    messages = {finding["code"]: finding["message"] for finding in document["findings"]}
    assert "AcmeBackend" in messages["CHECK-BACKEND-MISSING"]
    assert "aten::convolution.out" in messages["CHECK-KERNEL-MISSING"]
    for line in etbk("check", program, "--runtime", runtime).stdout.splitlines()[:1]:
        assert line.startswith("blocked")


def test_verdicts(tmp_path: Path, parts_folder: Path) -> None:
    content = mixed_program(tmp_path, parts_folder)
    good = profile(backends=["AcmeBackend"], kernels=ALL_KERNELS)
    ungraded = "CHECK-BLOB-NOT-GRADED"  # it has no envelope
    assert judge(content, good) == ("compatible", [ungraded])
    assert judge(content, profile(backends=["AcmeBackend"], kernels=None)) == (
        "unknown",
        [ungraded, "CHECK-PROFILE-INCOMPLETE"],
    )
    asleep = {**good, "backends": [{"id": "AcmeBackend", "available": False}]}
    assert judge(content, asleep) == ("blocked", ["CHECK-BACKEND-UNAVAILABLE", ungraded])
    unsure = {**good, "backends": [{"id": "AcmeBackend", "available": None}]}
    assert judge(content, unsure) == ("unknown", ["CHECK-AVAILABILITY-UNKNOWN", ungraded])
    twice = {**good, "registry_in": ["app", "liba.so"]}
    assert judge(content, twice) == ("unknown", [ungraded, "CHECK-REGISTRY-COPIES"])
    gaps = profile(backends=["AcmeBackend"], kernels=[], incomplete=True)
    assert judge(content, gaps)[0] == "unknown"
    assert judge(content[:500], good)[0] == "blocked"


def test_a_kernel_for_other_types_only_is_missing() -> None:
    content = (PROGRAMS / "cnn_portable.pte").read_bytes()
    runtime = profile(backends=[], kernels=ALL_KERNELS)
    runtime["kernels"][1]["keys"] = ["v1/7;0,1,2,3|7;0,1,2,3|7;0,1,2,3"]
    verdict, codes = judge(content, runtime)
    assert (verdict, codes) == ("blocked", ["CHECK-KERNEL-MISSING"])
    runtime["kernels"][1]["keys"] = ["v1/6;0,1,2,3|6;0,1,2,3|6;0,1,2,3"]
    assert judge(content, runtime) == ("compatible", [])


def test_weights_outside_the_program_are_asked_for() -> None:
    content = (PROGRAMS / "lin_external.pte").read_bytes()
    with ProgramFile.of_memory(content) as file:
        needs = check(file, profile(backends=[], kernels=[]))["needs"]["kernels"]
        runtime = profile(backends=[], kernels=needs)
        assert check(file, runtime)["verdict"] == "blocked"
        with ProgramFile.open(PROGRAMS / "lin_external.ptd") as data:
            assert check(file, runtime, external=data)["verdict"] == "compatible"


ENVELOPE = Envelope("AcmeBackend", "1.0.0", 3, payload_alignment=64)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"blob_format": 9}, "newer format than this backend reads (format 9, readable from"),
        ({"arch": "aarch64"}, "another processor (compiled for aarch64, this machine is x86_64)"),
        ({}, "does not have the hash in its envelope"),
    ],
)
def test_three_ways_to_be_unfit_have_three_sentences(
    changed: dict[str, Any], sentence: str, tmp_path: Path, parts_folder: Path
) -> None:
    blob = bytearray(seal(b"payload", Envelope(**{**vars(ENVELOPE), **changed})))
    if not changed:
        blob[-1] ^= 1
    runtime = profile(backends=["AcmeBackend"], kernels=ALL_KERNELS)
    runtime["backends"][0].update(format_oldest=1, format_newest=4)
    content = mixed_program(tmp_path, parts_folder, bytes(blob))
    with ProgramFile.of_memory(content) as file:
        document = check(file, runtime, hash=True)
    assert document["verdict"] == "blocked"
    assert any(sentence in finding["message"] for finding in document["findings"])
    # The command line says the same.
    program, recording = tmp_path / "p.pte", tmp_path / "profile.json"
    program.write_bytes(content)
    recording.write_text(json.dumps(runtime))
    result = etbk("check", program, "--runtime", recording, "--hash", "--json")
    assert result.returncode == 1
    said = json.loads(result.stdout)["findings"]
    assert any(sentence in finding["message"] for finding in said)
    if changed:
        graded = grade(bytes(blob), "AcmeBackend", format_oldest=1, format_newest=4, arch="x86_64")
        assert graded.grade == "unusable"
        assert sentence in graded.sentence


def test_blobs_without_envelope_stay_usable() -> None:
    graded = grade(b"anything", "AcmeBackend", format_oldest=1, format_newest=1)
    assert graded.grade == "optimal"


def test_every_flip_in_an_envelope_is_seen() -> None:
    blob = seal(b"payload", ENVELOPE)
    for index in range(len(b"ETBKENV\x1a"), len(blob) - 7):
        bad = bytearray(blob)
        bad[index] ^= 0x10
        graded = grade(bytes(bad), "AcmeBackend", format_oldest=3, format_newest=3)
        assert graded.grade == "unusable", index


def test_envelopes_that_cannot_be_are_refused() -> None:
    with pytest.raises(PteError, match="power of two"):
        seal(b"", Envelope("A", "1", 1, payload_alignment=3))
    with pytest.raises(PteError, match="newer than the blob's own format"):
        seal(b"", Envelope("A", "1", 1, oldest_reader=2))


def test_payload_is_found_in_place(tmp_path: Path, parts_folder: Path) -> None:
    blob = seal(b"payload", ENVELOPE)
    path = tmp_path / "p.pte"
    path.write_bytes(mixed_program(tmp_path, parts_folder, blob))
    with ProgramFile.open(path) as file:
        view = file.payload("forward", 0)
        whole = file.blob("forward", 0)
    assert bytes(view) == b"payload"  # also after close
    assert bytes(whole) == blob
    with pytest.raises(TypeError):
        view[0] = 1


def test_diff_names_what_changed() -> None:
    with (
        ProgramFile.open(PROGRAMS / "cnn_portable.pte") as portable,
        ProgramFile.open(PROGRAMS / "cnn_xnnpack.pte") as delegated,
    ):
        assert diff(portable, portable)["equal"]
        changes = diff(portable, delegated)["changes"]
    what = {(change["what"], change["where"]) for change in changes}
    assert ("operator", "forward, aten::convolution.out") in what
    assert ("delegates", "forward, XnnpackBackend") in what
    assert ("weights", "constants") in what


def test_diff_sees_other_weights(tmp_path: Path, parts_folder: Path) -> None:
    parts = take_apart("cnn_portable.pte", parts_folder)
    before = parts.build(tmp_path)
    parts.payload = b"\x01" + parts.payload[1:]
    with (
        ProgramFile.of_memory(before) as old,
        ProgramFile.of_memory(parts.build(tmp_path)) as new,
    ):
        (change,) = diff(old, new)["changes"]
    assert (change["what"], change["where"]) == ("weights", "constants")


def test_inspect_on_the_command_line(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd \xff name.pte"))
    odd.write_bytes((PROGRAMS / "cnn_xnnpack.pte").read_bytes())
    result = etbk("inspect", odd, "--json", "--hash")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["schema"] == "etbk.inspect/1"
    (delegate,) = document["methods"][0]["delegates"]
    assert delegate["id"] == "XnnpackBackend"
    assert delegate["header"]["format"] == "XNNPACK"
    assert delegate["hash"].startswith("xxh3:")
    assert document["methods"][0]["inputs"][0]["shape"] == [1, 3, 8, 8]
    assert etbk("inspect", tmp_path / "absent").returncode == 2
    (tmp_path / "cut.pte").write_bytes(odd.read_bytes()[:300])
    cut = etbk("inspect", tmp_path / "cut.pte")
    assert cut.returncode == 0
    assert "PTE-011" in cut.stdout


ENDS = {  # file: exit codes of inspect, diff and check
    "absent": (2, 2, 2),
    "a folder": (2, 2, 2),
    "empty": (2, 2, 2),
    "a text": (2, 2, 2),
    "cut": (0, 3, 1),
    "damaged": (0, 0, 1),
    "sound": (0, 0, 0),
}


@pytest.mark.parametrize("kind", ENDS)
def test_one_rule_for_the_exit_codes(
    kind: str,
    tmp_path: Path,
    parts_folder: Path,
    validate: Callable[[dict[str, Any]], None],
) -> None:
    sound = PROGRAMS / "cnn_portable.pte"
    file = tmp_path / "file.pte"
    parts = take_apart(sound.name, parts_folder)
    parts.plan.update(outputs=[-1])
    contents = {
        "empty": b"",
        "a text": b"x" * 1000,
        "cut": sound.read_bytes()[:300],
        "damaged": parts.build(tmp_path),
        "sound": sound.read_bytes(),
    }
    if kind == "a folder":
        file.mkdir()
    elif kind in contents:
        file.write_bytes(contents[kind])
    runtime = tmp_path / "profile.json"
    runtime.write_text(json.dumps(profile(backends=[], kernels=ALL_KERNELS)))
    commands: list[tuple[str | Path, ...]] = [
        ("inspect", file),
        ("diff", sound, file),
        ("check", file, "--runtime", runtime),
    ]
    for command, code in zip(commands, ENDS[kind], strict=True):
        result = CliRunner().invoke(app, [*map(str, command), "--json"])
        assert result.exit_code == code, (command[0], result.stdout)
        document = json.loads(result.stdout)
        validate(document)
        assert document["schema"] == f"etbk.{command[0]}/1"
        if kind not in ("sound", "damaged"):
            assert document["findings"]


def test_reports_keep_to_their_schemas(validate: Callable[[dict[str, Any]], None]) -> None:
    for path in sorted(PROGRAMS.glob("*.pt[de]")):
        with ProgramFile.open(path) as file:
            for hashed in (False, True):
                validate({"path": str(path), **file.inspect(hash=hashed)})
            validate({"path": str(path), **check(file, profile(backends=[], kernels=[]))})
            with ProgramFile.open(PROGRAMS / "cnn_xnnpack.pte") as other:
                validate({"before": "", "after": "", **diff(file, other)})


def test_blobs_are_graded_against_the_plugins_of_this_machine(
    tmp_path: Path, parts_folder: Path
) -> None:
    """The reference backend is installed; what it says of its formats reaches the verdict."""
    runtime = this_machine()
    rows = {row["id"]: row for row in runtime["backends"]}
    newest = rows["ReferenceBackend"]["format_newest"]
    assert rows["ReferenceBackend"]["judges"]
    assert "format_newest" not in rows["XnnpackBackend"]
    for blob_format, codes in (
        (newest, {"CHECK-BLOB-NOT-GRADED"}),  # what it judges itself was not asked
        (newest + 1, {"CHECK-BLOB-NOT-GRADED", "CHECK-BLOB-INCOMPATIBLE"}),
    ):
        blob = seal(b"payload", Envelope("ReferenceBackend", "1", blob_format))
        content = mixed_program(tmp_path, parts_folder, blob, "ReferenceBackend")
        verdict, found = judge(content, runtime)
        assert set(found) == codes
        assert verdict == ("blocked" if len(codes) > 1 else "compatible")


def test_what_stock_blobs_say_of_themselves(tmp_path: Path, parts_folder: Path) -> None:
    def header(blob: bytes) -> dict[str, Any]:
        with ProgramFile.of_memory(mixed_program(tmp_path, parts_folder, blob)) as file:
            found: dict[str, Any] = file.inspect()["methods"][0]["delegates"][0]["header"]
        return found

    def block(name: bytes, content: bytes) -> bytes:
        head = struct.pack("<16sIB11s", name, len(content), 0, b"")
        return head + content + b"\0" * (-len(content) % 16)

    commands = b"COP1" + struct.pack("<III", 1, 8, 0x10060000)
    vela = header(
        block(b"vela_bin_stream", b"")
        + block(b"cmd_data", commands)
        + block(b"weight_data", b"12345")
        + block(b"vela_end_stream", b"")
    )
    assert vela["target"] == {"macs_per_cycle": 256, "architecture": "1.0.6"}
    assert [row["bytes"] for row in vela["blocks"]] == [16, 5]
    contents = {
        "nodes": [
            {"kind": 0, "name": "model.mlmodel", "dataRegion": {"offset": 0, "size": 5}},
            {"kind": 1, "name": "Data", "dataRegion": {"offset": 0, "size": 0}},
        ]
    }
    core_ml = header(b"model" + json.dumps(contents, separators=(",", ":"))[::-1].encode())
    assert core_ml["files"] == [{"name": "model.mlmodel", "bytes": 5}]
    assert header(b'CMJR{"version":1}')["format"] == "Core ML model in named data"
    xml = b'<?xml version="1.0"?>'
    places = struct.pack("<6Q", 48, len(xml), 48 + len(xml), 12, 60 + len(xml), 34)
    openvino = header(places + xml + b"c" * 12 + b"m" * 34)
    assert (openvino["constants"]["bytes"], openvino["model"]["bytes"]) == (12, 34)
    assert header(b"VGF1" + bytes(4) + b"\0\4\1" + bytes(20))["version"] == "0.4.1"
    qnn = header(struct.pack("<IQQ", 0x5678ABCD, 7, 99) + bytes(99))
    assert (qnn["format"], qnn["context_bytes"]) == ("QNN context", 99)


def test_for_cmake(tmp_path: Path, parts_folder: Path) -> None:
    content = mixed_program(tmp_path, parts_folder)
    with ProgramFile.of_memory(content) as file:
        text = for_cmake(check(file, profile(backends=[], kernels=[])))
    assert "executorch::kernels_optimized" in text
    assert "the package that brings the backend AcmeBackend" in text
    assert "aten::addmm.out" in text


def test_profiles_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    for content, code in (("{", "PROFILE-INVALID"), ("[]", "PROFILE-INVALID"), ("{}", "PROFILE-")):
        path.write_text(content)
        with pytest.raises(PteError) as raised:
            recorded(path)
        assert raised.value.finding.code.startswith(code)
    with pytest.raises(PteError, match="PROFILE-UNREADABLE"):
        recorded(tmp_path / "absent")
    with pytest.raises(PteError, match="BINARY-NOT-ELF"):
        of_binary(path)


def test_a_library_shows_its_kernels(tmp_path: Path) -> None:
    import executorch  # type: ignore[import-not-found, unused-ignore]

    folder = Path(next(iter(executorch.__path__))) / "lib"
    with ProgramFile.open(PROGRAMS / "cnn_portable.pte") as file:
        runtime = of_binary(folder / "libexecutorch_kernels_optimized.so")
        assert check(file, runtime)["verdict"] == "compatible"
    with ProgramFile.open(PROGRAMS / "cnn_xnnpack.pte") as file:
        assert check(file, runtime)["verdict"] == "blocked"


def test_an_archive_shows_its_plugins_and_copies_of_the_registry(tmp_path: Path) -> None:
    import executorch
    import reference_executorch_backend  # type: ignore[import-not-found, unused-ignore]

    libraries = Path(next(iter(executorch.__path__))) / "lib"
    package = Path(next(iter(reference_executorch_backend.__path__)))
    (plugin,) = package.glob("lib/lib*.so")
    archive = tmp_path / "app.aar"
    with zipfile.ZipFile(archive, "w") as target:
        target.write(plugin, f"jni/x86_64/{plugin.name}")
        for name in ("libexecutorch.so", "libexecutorch_backend_xnnpack.so"):
            target.write(libraries / name, f"jni/x86_64/{name}")
    shown = of_binary(archive)
    assert shown["plugins_in"] == [f"jni/x86_64/{plugin.name}"]
    assert {row["id"] for row in shown["backends"]} >= {"ReferenceBackend", "XnnpackBackend"}
    assert shown["registry_in"] == ["jni/x86_64/libexecutorch.so"]  # the other asks for it
    with zipfile.ZipFile(archive, "a") as target:
        target.write(libraries / "libexecutorch.so", "jni/x86_64/libsecond.so")
    with ProgramFile.open(PROGRAMS / "cnn_xnnpack.pte") as file:
        document = check(file, of_binary(archive))
    assert "CHECK-REGISTRY-COPIES" in {finding["code"] for finding in document["findings"]}
    assert len(document["runtime"]["registry_in"]) == 2


def test_a_profile_recorded_by_an_application(tmp_path: Path) -> None:
    """etbk_write_profile() in a program that links ExecuTorch's kernels and XNNPACK."""
    import executorch

    prefix = Path(next(iter(executorch.__path__)))
    main = tmp_path / "main.cpp"
    main.write_text(
        'extern "C" int etbk_write_profile(const char* path);\n'
        "int main(int, char** arguments) { return etbk_write_profile(arguments[1]); }\n"
    )
    source = Path(__file__).parents[2] / "pte/profile/etbk_write_profile.cpp"
    include = prefix / "include"
    subprocess.run(
        [
            *("g++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror"),
            *("-DC10_USING_CUSTOM_GENERATED_MACROS", "-isystem", include),
            *("-isystem", include / "executorch/runtime/core/portable_type/c10"),
            *(main, source, "-o", tmp_path / "application", f"-L{prefix / 'lib'}"),
            *("-Wl,--no-as-needed", "-lexecutorch", "-lexecutorch_kernels_optimized"),
            *("-lexecutorch_backend_xnnpack", "-lexecutorch_threadpool"),
            f"-Wl,-rpath,{prefix / 'lib'}",
        ],
        check=True,
    )
    subprocess.run([tmp_path / "application", tmp_path / "profile.json"], check=True)
    runtime = recorded(tmp_path / "profile.json")
    for name in ("cnn_portable.pte", "cnn_xnnpack.pte"):
        with ProgramFile.open(PROGRAMS / name) as file:
            assert check(file, runtime)["verdict"] == "compatible"
    shown = of_binary(tmp_path / "application")  # follows the libraries it needs
    assert {row["id"] for row in shown["backends"]} >= {"XnnpackBackend"}
    with ProgramFile.open(PROGRAMS / "cnn_xnnpack.pte") as file:
        document = check(file, shown)
    # Linked, and that is all that a file shows: whether it finds what it needs is not known.
    assert document["verdict"] == "unknown"
    assert not any(finding["severity"] == "error" for finding in document["findings"])
