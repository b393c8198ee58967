"""One broken world per finding code."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from executorch_backend_kit.doctor import bundle, cache, environment, facts, libraries, runtime, sdk
from executorch_backend_kit.doctor.environment import Environment
from executorch_backend_kit.doctor.verdict import State, Subject, judge
from executorch_backend_kit.knowledge import Backend, Knowledge, load
from executorch_backend_kit.report.finding import Finding, KitError

HERE = Environment("linux-x86-64", "3.11.9", "1.5.1", {"executorch": "1.5.1", "torch": "2.13.0"})
SUBJECT = Subject("acme", "Acme", "AcmeBackend", 1e-3, (), True)
MODULE = {"module": "acme", "importable": True, "error": "", "missing": []}
LOWERED = {"delegates": {"AcmeBackend": 1}, "operators": [], "bytes": 100}
RUNTIME = runtime.Runtime(examined=True, slots=("AcmeBackend",), available={"AcmeBackend": True})


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load()


def codes(findings: Iterable[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def seen(*results: dict[str, Any], outcome: str = "done", **more: Any) -> dict[str, Any]:
    """What a child process saw."""
    base: dict[str, Any] = {
        "outcome": outcome,
        "detail": "",
        "output": "",
        "network": [],
        "run": None,
    }
    return {**base, "results": list(results), **more}


def ran(**result: Any) -> dict[str, Any]:
    return seen(result)


# The environment


def test_executorch_missing() -> None:
    nothing = dataclasses.replace(HERE, executorch=None, packages={})
    assert "EXECUTORCH-MISSING" in codes(environment.findings(nothing))


def test_executorch_unsupported() -> None:
    newer = dataclasses.replace(HERE, executorch="1.9.0")
    assert "EXECUTORCH-UNSUPPORTED" in codes(environment.findings(newer))


def test_executorch_shadowed_by_a_folder_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "executorch" / "exir").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = [f for f in environment.findings(HERE) if f.code == "EXECUTORCH-SHADOWED"]
    assert str(tmp_path / "executorch") in found[0].evidence


def test_executorch_shadowed_for_scripts_of_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "executorch").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", ".")])
    found = [f for f in environment.findings(HERE) if f.code == "EXECUTORCH-SHADOWED"]
    assert found[0].severity.value == "warning"


def test_dependency_missing_and_version_against_the_wheels_own_pins() -> None:
    packages = {**environment.read().packages, "torchao": "0.5.0"}
    packages.pop("sympy", None)
    found = list(environment.findings(dataclasses.replace(HERE, packages=packages)))
    assert "torchao" in next(f for f in found if f.code == "DEPENDENCY-VERSION").message
    assert "sympy" in next(f for f in found if f.code == "DEPENDENCY-MISSING").message


# The facts


def test_openvino_2026_is_refused_by_its_version(knowledge: Knowledge) -> None:
    packages = {**HERE.packages, "openvino": "2026.4.1", "nncf": "3.1.0"}
    here = dataclasses.replace(HERE, packages=packages)
    (finding,) = facts.findings(knowledge.backends["openvino"], here)
    assert finding.code == "DEPENDENCY-VERSION"
    assert "2026.4.1" in finding.message
    assert "<2026" in finding.message


@pytest.mark.parametrize(
    ("backend", "release", "python", "platform", "code"),
    [
        ("mps", "1.5.1", "3.11.9", "linux-x86-64", "BACKEND-REMOVED"),
        ("native", "1.4.1", "3.11.9", "linux-x86-64", "BACKEND-NOT-IN-RELEASE"),
        ("metal", "1.5.1", "3.11.9", "linux-x86-64", "HOST-UNSUPPORTED"),
        ("cadence", "1.5.1", "3.11.9", "linux-x86-64", "PYTHON-UNSUPPORTED"),
        ("coreml", "1.5.1", "3.14.0", "linux-x86-64", "PYTHON-UNSUPPORTED"),
        ("openvino", "1.5.1", "3.11.9", "linux-x86-64", "DEPENDENCY-MISSING"),
    ],
)
def test_facts_against_a_backend(  # noqa: PLR0917 - the row of the table
    knowledge: Knowledge, backend: str, release: str, python: str, platform: str, code: str
) -> None:
    here = Environment(platform, python, release, HERE.packages)
    assert code in codes(facts.findings(knowledge.backends[backend].for_release(release), here))


def test_facts_have_nothing_against_xnnpack(knowledge: Knowledge) -> None:
    assert codes(facts.findings(knowledge.backends["xnnpack"], HERE)) == []


def test_traps_of_other_releases_are_left_out(knowledge: Knowledge) -> None:
    data = {
        **knowledge.backends["xnnpack"].data,
        "traps": [{"text": "new", "releases": ">=1.5"}, {"text": "old", "releases": "<1.5"}],
    }
    backend = Backend("xnnpack", "XNNPACK", (), "kit", data)
    assert [f.message for f in facts.traps(backend, HERE)] == ["new"]
    assert codes(facts.traps(backend, HERE)) == ["BACKEND-TRAP"]


# SDKs

QNN = "QNN_SDK_ROOT"


@pytest.fixture
def qnn(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.delenv(QNN, raising=False)
    fact: dict[str, Any] = knowledge.backends["qnn"].get("sdk", 0)
    return fact


def complete(folder: Path, fact: dict[str, Any], version: str) -> Path:
    for name in fact["files"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "sdk.yaml").write_text(f"version: {version}\n")
    return folder


def test_sdk_missing(qnn: dict[str, Any]) -> None:
    found = sdk.look_up(qnn)
    assert codes(found.findings) == ["SDK-MISSING"]
    assert "$QNN_SDK_ROOT is not set" in found.findings[0].evidence
    assert not found.to_json()["found"]


def test_sdk_folder_missing(
    qnn: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(QNN, str(tmp_path / "gone"))
    assert "SDK-FOLDER-MISSING" in codes(sdk.look_up(qnn).findings)


def test_sdk_file_missing(
    qnn: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete(tmp_path, qnn, "2.37.0")
    (tmp_path / qnn["files"][0]).unlink()
    monkeypatch.setenv(QNN, str(tmp_path))
    (finding,) = sdk.look_up(qnn).findings
    assert finding.code == "SDK-FILE-MISSING"
    assert qnn["files"][0] in finding.message


def test_sdk_version(qnn: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(QNN, str(complete(tmp_path, qnn, "2.10.0")))
    found = sdk.look_up(qnn)
    assert codes(found.findings) == ["SDK-VERSION"]
    assert found.version == "2.10.0"


def test_sdk_complete(qnn: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(QNN, str(complete(tmp_path, qnn, "2.37.0")))
    found = sdk.look_up(qnn)
    assert found.to_json() == {
        "name": qnn["name"],
        "found": True,
        "path": str(tmp_path),
        "version": "2.37.0",
    }


def test_sdk_tool_not_executable(
    knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = knowledge.backends["vulkan"].get("sdk", 0)
    (tmp_path / "glslc").touch(mode=0o644)
    monkeypatch.delenv("VULKAN_SDK", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert codes(sdk.look_up(fact).findings) == ["SDK-TOOL-NOT-EXECUTABLE"]
    (tmp_path / "glslc").write_text("#!/bin/sh\n")
    (tmp_path / "glslc").chmod(0o755)
    found = sdk.look_up(fact)
    assert found.path == str(tmp_path / "glslc")
    assert codes(found.findings) == []


def tool(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_sdk_tool_too_old(
    knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = knowledge.backends["vulkan"].get("sdk", 0)
    monkeypatch.delenv("VULKAN_SDK", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    says = "extension not supported: GL_EXT_integer_dot_product"
    tool(tmp_path, "glslc", f"echo '{says}' >&2; exit 1")
    (finding,) = sdk.look_up(fact).findings
    assert finding.code == "SDK-TOOL-TOO-OLD"
    assert says in finding.evidence
    # Found by its variable, the same.
    (tmp_path / "bin").mkdir()
    tool(tmp_path / "bin", "glslc", "exit 3")
    monkeypatch.setenv("VULKAN_SDK", str(tmp_path))
    assert codes(sdk.look_up(fact).findings) == ["SDK-TOOL-TOO-OLD"]


def test_sdk_tool_tells_its_version(
    knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = {**knowledge.backends["cuda"].get("sdk", 0), "range": ">=12"}
    for variable in fact["variables"]:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    tool(tmp_path, "nvcc", "echo 'Cuda compilation tools, release 11.8, V11.8.89'")
    found = sdk.look_up(fact)
    assert found.version == "11.8"
    assert codes(found.findings) == ["SDK-VERSION"]


def test_sdk_dependency_missing(
    qnn: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dependency of a dependency is not there: it is named, with the way to it."""
    complete(tmp_path, qnn, "2.37.0")
    library = tmp_path / qnn["files"][0]
    folder = library.parent
    names = ("libetbk_gone.so.1", "libQnnMiddle.so", library.name)
    for index, name in enumerate(names):
        needed = [f"-l:{names[index - 1]}"] if index else []
        subprocess.run(
            [
                *("gcc", "-shared", "-nostdlib", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed"),
                *("-x", "c", os.devnull, f"-Wl,-soname,{name}", f"-L{folder}", *needed),
                *("-o", folder / name),
            ],
            check=True,
        )
    monkeypatch.setenv(QNN, str(tmp_path))
    assert codes(sdk.look_up(qnn).findings) == []
    (folder / "libetbk_gone.so.1").unlink()
    (finding,) = sdk.look_up(qnn).findings
    assert finding.code == "SDK-DEPENDENCY-MISSING"
    assert finding.evidence == "libQnnHtp.so needs libQnnMiddle.so needs libetbk_gone.so.1"
    assert libraries.Lacking("libc++.so.1", ()).install == "apt-get install libc++1"


# The runtime


def test_registry_full() -> None:
    names = [f"Backend{i}" for i in range(16)]
    found = runtime.judge(seen({"stock": names, "operators": 1}, {"slots": names, "libraries": []}))
    assert codes(found.findings) == ["REGISTRY-FULL"]


@pytest.mark.parametrize(
    ("libraries", "code"),
    [
        (["/a/libexecutorch.so", "/b/libexecutorch.so"], "REGISTRY-SECOND-RUNTIME"),
        (["/a/_portable_lib.so", "/b/_portable_lib.cpython-311.so"], "REGISTRY-SECOND-RUNTIME"),
        (["/a/libc++.so.1", "/b/libc++.so.1"], "LIBCXX-SECOND-COPY"),
        (["/a/libstdc++.so.6", "/conda/libstdc++.so.6.0.32"], "LIBCXX-SECOND-COPY"),
    ],
)
def test_second_copies(libraries: list[str], code: str) -> None:
    found = runtime.judge(
        seen({"stock": ["A"], "operators": 1}, {"slots": ["A"], "libraries": libraries})
    )
    assert codes(found.findings) == [code]
    assert libraries[0] in found.findings[0].evidence


def test_one_copy_of_each_is_right() -> None:
    libraries = ["/a/libexecutorch.so", "/a/libexecutorch_threadpool.so", "/l/libstdc++.so.6"]
    found = runtime.judge(
        seen({"stock": ["A"], "operators": 1}, {"slots": ["A"], "libraries": libraries})
    )
    assert found.findings == ()


def test_runtime_examination_failed_and_package_import_failed() -> None:
    broken = seen(outcome="crashed", detail="ended by SIGSEGV", preloaded={"torch": "OSError: x"})
    assert codes(runtime.judge(broken).findings) == [
        "PACKAGE-IMPORT-FAILED",
        "RUNTIME-EXAMINATION-FAILED",
    ]


# Trials


@pytest.mark.parametrize(
    ("observation", "state", "code"),
    [
        (seen({**MODULE, "importable": False, "error": "ImportError: x"}),
         State.UNAVAILABLE, "BACKEND-IMPORT-FAILED"),
        (seen({**MODULE, "importable": False, "error": "SystemExit: 3"}),
         State.UNAVAILABLE, "IMPORT-EXITS"),
        (seen({"module": "acme", "begun": True}, outcome="crashed", detail="ended by SIGABRT"),
         State.UNAVAILABLE, "PROBE-CRASHED"),
        (seen({"module": "acme", "begun": True}, outcome="timed out"),
         State.UNAVAILABLE, "PROBE-TIMED-OUT"),
        (seen({"module": "acme", "begun": True}, outcome="exited"),
         State.UNAVAILABLE, "PROBE-EXITED"),
        (seen(MODULE, {"lowering": True}, outcome="crashed"), State.IMPORTABLE, "PROBE-CRASHED"),
        (seen({**MODULE, "missing": ["Partitioner"]}), State.IMPORTABLE, "BACKEND-NAME-MISSING"),
        (seen(MODULE, network=["example.org"]), State.IMPORTABLE, "IMPORT-NETWORK"),
        (seen(MODULE, {"changes": ["threads: 1 to 2"]}), State.IMPORTABLE, "IMPORT-SIDE-EFFECT"),
        (seen(MODULE, {"lowering": True}, {"error": "RuntimeError: no", "where": "a.py:1"}),
         State.IMPORTABLE, "BACKEND-LOWERING-FAILED"),
        (seen(MODULE, {**LOWERED, "delegates": {}}), State.IMPORTABLE, "BACKEND-TOOK-NOTHING"),
        (seen(MODULE, LOWERED, run=ran(error="RuntimeError: 0x1")),
         State.COMPILES, "BACKEND-RUN-FAILED"),
        (seen(MODULE, LOWERED, run=seen(outcome="crashed", detail="ended by SIGSEGV")),
         State.COMPILES, "BACKEND-RUN-FAILED"),
        (seen(MODULE, LOWERED, run=ran(max_abs_error=0.5)),
         State.COMPILES, "BACKEND-WRONG-RESULT"),
        (seen(MODULE, LOWERED, run=ran(max_abs_error=float("nan"))),
         State.COMPILES, "BACKEND-WRONG-RESULT"),
    ],
)  # fmt: skip
def test_trials(observation: dict[str, Any], state: State, code: str) -> None:
    verdict = judge(SUBJECT, observation, RUNTIME)
    assert verdict.state is state
    assert codes(verdict.findings) == [code]


def test_right_numbers_are_usable() -> None:
    verdict = judge(SUBJECT, seen(MODULE, LOWERED, run=ran(max_abs_error=1e-6)), RUNTIME)
    assert (verdict.state, verdict.findings) == (State.USABLE, ())


def test_not_registered_and_not_available() -> None:
    failed = seen(MODULE, LOWERED, run=ran(error="RuntimeError: 0x:20"))
    assert codes(judge(SUBJECT, failed, runtime.Runtime(True)).findings) == [
        "BACKEND-NOT-REGISTERED"
    ]
    refusing = runtime.Runtime(True, ("AcmeBackend",), {"AcmeBackend": False})
    assert codes(judge(SUBJECT, failed, refusing).findings) == ["BACKEND-NOT-AVAILABLE"]


def test_kernels_not_registered() -> None:
    kernels = dataclasses.replace(SUBJECT, id="", operators=("acme::conv.out",))
    lowered = {"delegates": {}, "operators": ["acme::conv.out"], "bytes": 9}
    failed = seen(MODULE, lowered, run=ran(error="Failed to load method, error: 0x:14"))
    assert codes(judge(kernels, failed, RUNTIME).findings) == ["KERNELS-NOT-REGISTERED"]


# The cache and the bundle


def test_damaged_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETBK_CACHE", str(tmp_path))
    assert cache.write("key", {}, {}) == ()
    (file,) = (tmp_path / "doctor").iterdir()
    for damage in ("{", "[]", '{"format": 1}'):
        file.write_text(damage)
        kept, findings = cache.read("key")
        assert kept is None
        assert codes(findings) == ["CACHE-DAMAGED"]


def test_unwritable_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ETBK_CACHE", str(tmp_path / "file"))
    assert codes(cache.write("key", {}, {})) == ["CACHE-NOT-WRITABLE"]
    kept, findings = cache.read("key")
    assert (kept, codes(findings)) == (None, ["CACHE-DAMAGED"])


def test_fingerprint_follows_what_matters(
    knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "libacme.so"
    plugin.touch()
    first = cache.fingerprint(knowledge, [str(plugin)])
    assert cache.fingerprint(knowledge, [str(plugin)]) == first
    os.utime(plugin, (1, 1))
    second = cache.fingerprint(knowledge, [str(plugin)])
    monkeypatch.setenv("QNN_SDK_ROOT", "/somewhere")
    third = cache.fingerprint(knowledge, [str(plugin)])
    monkeypatch.syspath_prepend(str(tmp_path))
    fourth = cache.fingerprint(knowledge, [str(plugin)])
    (tmp_path / "acme-1.0.dist-info").mkdir()
    fifth = cache.fingerprint(knowledge, [str(plugin)])
    assert len({first, second, third, fourth, fifth}) == 5


def test_bundle_holds_nothing_personal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    monkeypatch.setattr("platform.node", lambda: "engine.example")
    document = {
        "path": ["/home/ada/sdk/lib.so", "/home/grace/x", "/Users/alan/y", "C"],
        "token": "hf_abcdefghijklmnopqrstuvwxyz and ghp_0123456789abcdefghij",
        "url": "https://ada:secret@pypi.example/simple",
        "setting": "API_KEY=12345 next",
        "mail": "ada@example.org",
        "host": "on engine.example, address 192.168.1.17; version 2.13.0 and 2025.4.1",
    }
    file = tmp_path / "report.json"
    bundle.write(document, file)
    text = file.read_text()
    for secret in ("ada", "grace", "alan", "hf_abc", "ghp_", "secret@", "12345", "engine.", "192."):
        assert secret not in text, secret
    assert "~/sdk/lib.so" in text
    assert "2.13.0" in text
    assert "2025.4.1" in text


def test_bundle_unwritable(tmp_path: Path) -> None:
    with pytest.raises(KitError) as caught:
        bundle.write({}, tmp_path / "no" / "report.json")
    assert caught.value.finding.code == "FILE-NOT-WRITTEN"
