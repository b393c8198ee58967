"""Plugins in the runtime of this Python. Registries are for a process: each case has its own."""

from __future__ import annotations

import json
import os
import platform
import re
import runpy
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGINS = REPOSITORY / "host" / "tests" / "plugins"
BUILT_IN = ["QnnBackend", "OpenvinoBackend", "XnnpackBackend"]  # of the pinned wheel

Compile = Callable[..., Path]
Child = Callable[..., Any]


@pytest.fixture(scope="module")
def compile_plugin(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compiles the fake plugin of the host's tests under a name."""
    folder = tmp_path_factory.mktemp("plugins")

    def compile_plugin(name: str, backend: str, *definitions: str) -> Path:
        library = folder / f"lib{name}.so"
        if not library.exists():
            command = ["cc", "-std=gnu99", "-shared", "-fPIC", "-fvisibility=hidden"]
            command += [f"-I{REPOSITORY / 'abi' / 'include'}", f"-DFAKE_NAME={name}"]
            command += [f"-DFAKE_ID={backend}", *definitions, "-o", str(library)]
            subprocess.run([*command, str(PLUGINS / "fake_plugin.c")], check=True)
        return library

    return compile_plugin


@pytest.fixture
def child(tmp_path: Path) -> Child:
    """Runs Python code in a process of its own; what it stores in `answer` comes back."""

    def child(code: str, *arguments: object, **environment: str) -> Any:
        script = tmp_path / "child.py"
        answer = tmp_path / "answer.json"
        prologue = "import json, sys, warnings\nwarnings.filterwarnings('ignore')\nanswer = None\n"
        epilogue = f"\nwith open({str(answer)!r}, 'w') as file: json.dump(answer, file)\n"
        script.write_text(prologue + textwrap.dedent(code) + epilogue)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ETBK_")}
        if "PYTHONPATH" in environment and "PYTHONPATH" in kept:
            environment["PYTHONPATH"] += os.pathsep + kept["PYTHONPATH"]
        done = subprocess.run(
            [sys.executable, str(script), *map(str, arguments)],
            env={**kept, "XDG_DATA_HOME": str(tmp_path / "data"), **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(answer.read_text())

    return child


LOAD_AND_LIST = """
    {first}
    from executorch_backend_kit import host
    plugin = host.load_plugin(sys.argv[1])
    had_torch = "torch" in sys.modules
    from executorch.runtime import Runtime
    registry = Runtime.get().backend_registry
    answer = {{
        "plugin": plugin.to_json(),
        "had_torch": had_torch,
        "names": registry.registered_backend_names,
        "host_names": host.registered_backends(),
        "available": registry.is_available("FakeGood"),
        "audit": [f.code for f in host.audit()],
        "version": host.runtime_version(),
        "library": host.runtime_library(),
    }}
"""
IMPORT = "from executorch.runtime import Runtime"


@pytest.mark.parametrize("first", ["", IMPORT], ids=["before-the-runtime", "after-the-runtime"])
def test_the_stock_runtime_sees_the_backend(
    compile_plugin: Compile, child: Child, first: str
) -> None:
    library = compile_plugin("fake_good", "FakeGood")
    seen = child(LOAD_AND_LIST.format(first=first), library)
    assert seen["plugin"]["outcome"] == "registered"
    assert seen["plugin"]["findings"] == []
    assert seen["plugin"]["backends"] == ["FakeGood"]
    assert sorted(seen["names"]) == sorted([*BUILT_IN, "FakeGood"])
    assert seen["names"] == seen["host_names"]
    assert seen["available"] is True
    assert seen["audit"] == []
    assert seen["version"] == "1.5.1"
    assert Path(seen["library"]).name == "libexecutorch.so"
    assert seen["had_torch"] == bool(first)


@pytest.fixture(scope="module")
def executorch_14(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the whole 1.4 wheel, as pinned for the build."""
    if platform.machine() != "x86_64":
        pytest.skip("1.4 has no library that serves every Python on this machine")
    unpacking = runpy.run_path(str(REPOSITORY / "cmake" / "unpack_executorch.py"))
    folder = tmp_path_factory.mktemp("executorch-1.4")
    pin = REPOSITORY / "cmake" / "executorch-1.4.txt"
    wheel = unpacking["download"](pin, platform.machine(), folder)
    site = folder / "site"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(site)], check=True)
    return site


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the pinned 1.4 wheel is for 3.11")
def test_the_same_binary_under_the_line_before(
    compile_plugin: Compile, child: Child, executorch_14: Path
) -> None:
    library = compile_plugin("fake_good", "FakeGood")
    code = LOAD_AND_LIST.format(first="")
    seen = child(code, library, PYTHONPATH=str(executorch_14))
    assert seen["version"] == "1.4.1"
    assert Path(seen["library"]).name == "libqnn_executorch_backend.so"
    assert seen["plugin"]["outcome"] == "registered"
    assert sorted(seen["names"]) == sorted([*BUILT_IN, "VgfBackend", "FakeGood"])
    assert seen["available"] is True
    assert seen["audit"] == []


def test_loading_twice_is_loading_once(
    compile_plugin: Compile, child: Child, tmp_path: Path
) -> None:
    library = compile_plugin("fake_good", "FakeGood")
    link = tmp_path / "link.so"
    link.symlink_to(library)
    code = """
        from executorch_backend_kit import host
        loaded = [host.load_plugin(path) for path in sys.argv[1:]]
        answer = [[p.outcome.value for p in loaded], [p.usable for p in loaded],
                  host.registered_backends(), len(host.plugins())]
    """
    assert child(code, library, library, link, FAKE_COUNT_ENTRIES="1") == [
        ["registered", "already_registered", "already_registered"],
        [True, True, True],
        ["FakeGood"],
        1,
    ]


def test_a_bad_plugin_is_a_finding(compile_plugin: Compile, child: Child, tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("hello")
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.so")
    code = """
        from executorch_backend_kit import host
        answer = []
        for path in [*sys.argv[1:], "/nowhere/lib.so"]:
            plugin = host.load_plugin(path)
            assert not plugin.usable
            (finding,) = plugin.findings
            assert finding.message and finding.evidence and finding.fix
            answer.append(finding.code)
        try:
            host.load_plugin("/tmp/\\0lib.so")
        except host.HostError as error:
            answer.append(error.finding.code)
    """
    newer = compile_plugin("fake_newer", "FakeNewer", "-DFAKE_MINOR=12u", "-DFAKE_MINOR_NEEDED=12u")
    assert child(code, tmp_path / "text.so", newer, odd) == [
        "PLUGIN-NOT-A-LIBRARY",
        "PLUGIN-ABI-TOO-NEW",
        "PLUGIN-FILE-MISSING",
        "PLUGIN-FILE-MISSING",
        "HOST-REQUEST-INVALID",
    ]


def test_the_seventeenth_backend(compile_plugin: Compile, child: Child) -> None:
    libraries = [compile_plugin(f"fake_{i}", f"Fake{i}") for i in range(14)]
    code = f"""
        {IMPORT}
        from executorch_backend_kit import host
        loaded = host.load_plugins(sys.argv[1:], standard_directories=False, entry_points=False)
        last = loaded[-1]
        answer = [[p.outcome.value for p in loaded], [f.to_json() for f in last.findings],
                  len(Runtime.get().backend_registry.registered_backend_names)]
    """
    outcomes, (finding,), count = child(code, *libraries)
    assert outcomes == ["registered"] * 13 + ["refused"]
    assert count == 16
    assert finding["code"] == "REGISTRY-FULL"
    for name in [*BUILT_IN, "Fake0", "Fake12"]:
        assert name in finding["evidence"]


def test_a_library_with_its_own_registry_is_named(
    compile_plugin: Compile, child: Child, tmp_path: Path
) -> None:
    own = tmp_path / "libown.so"
    source = PLUGINS / "own_runtime.cpp"
    command = ["c++", "-std=c++17", "-shared", "-fPIC", "-o", str(own), str(source)]
    subprocess.run(command, check=True)
    code = """
        import ctypes
        from executorch_backend_kit import host
        host.load_plugin(sys.argv[1])
        before = [f.to_json() for f in host.audit()]
        status = ctypes.CDLL(sys.argv[2]).own_runtime_status()
        answer = [before, status, host.registered_backends(),
                  [f.to_json() for f in host.audit()]]
    """
    before, status, names, (finding,) = child(code, compile_plugin("fake_good", "FakeGood"), own)
    assert before == []
    assert status == 0, "the library believes that it has registered LostBackend"
    assert names == ["FakeGood"]
    assert finding["code"] == "REGISTRY-SECOND-RUNTIME"
    assert str(own) in finding["message"]


def test_a_list_that_lacks_our_backend(compile_plugin: Compile, child: Child) -> None:
    code = """
        from executorch_backend_kit import host
        host.load_plugin(sys.argv[1])
        answer = [f.to_json() for f in host.audit(["XnnpackBackend"])]
    """
    (finding,) = child(code, compile_plugin("fake_good", "FakeGood"))
    assert finding["code"] == "REGISTRY-PRIVATE"
    assert "FakeGood" in finding["message"]


ENTRY_POINTS = """
[executorch_backend_kit.backends]
broken = vendor_package:broken
good = vendor_package:good
"""
VENDOR = """
from executorch_backend_kit.aot.descriptor import BackendDescriptor
from pathlib import Path

def good():
    return BackendDescriptor(name="good", id="FakeGood", package="vendor", version="1.2.0",
                             executorch=">=1.4,<1.6", partitioner=print,
                             runtime_library=Path({library!r}))

def broken():
    raise RuntimeError("no licence")
"""


def test_entry_points_bring_their_library(
    compile_plugin: Compile, child: Child, tmp_path: Path
) -> None:
    library = compile_plugin("fake_good", "FakeGood")
    site = tmp_path / "site"
    info = site / "vendor-1.2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vendor\nVersion: 1.2.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (site / "vendor_package.py").write_text(VENDOR.format(library=str(library)))
    code = """
        from executorch_backend_kit import host
        seen = host.discover()
        loaded = host.load_plugins()
        without = host.load_plugins(entry_points=False)
        answer = [[p.to_json() for p in plugins] for plugins in (seen, loaded, without)]
        answer.append("torch" in sys.modules)
    """
    seen, loaded, without, had_torch = child(code, PYTHONPATH=str(site))
    assert had_torch is False
    found = {p["name"]: p for p in seen}
    assert found["fake_good"]["outcome"] == "candidate"
    assert found["fake_good"]["origin"] == "installed"
    registered = {p["name"]: p for p in loaded}
    assert registered["fake_good"]["outcome"] == "registered"
    (broken,) = (p for name, p in registered.items() if "broken" in name)
    assert broken["outcome"] == "refused"
    assert broken["findings"][0]["code"] == "DESCRIPTOR-FAILED"
    assert "no licence" in broken["findings"][0]["evidence"]
    assert [p for p in without if p["origin"] == "installed"] == []


def test_variables_choose(compile_plugin: Compile, child: Child) -> None:
    good = compile_plugin("fake_good", "FakeGood")
    other = compile_plugin("fake_other", "FakeOther")
    code = """
        from executorch_backend_kit import host
        answer = {p.name: p.outcome.value for p in host.load_plugins(entry_points=False)}
    """
    plugins = {"ETBK_PLUGINS": f"{good}:{other}"}
    assert child(code, **plugins) == {"fake_good": "registered", "fake_other": "registered"}
    chosen = child(code, **plugins, ETBK_DISABLE="FakeO*")
    assert chosen == {"fake_good": "registered", "fake_other": "disabled"}


def test_options_of_a_backend_without_options(compile_plugin: Compile, child: Child) -> None:
    code = """
        from executorch_backend_kit import host
        host.load_plugin(sys.argv[1])
        answer = []
        for call in (lambda: host.set_option("FakeGood", "level", 3),
                     lambda: host.get_option("FakeGood", "level", "int"),
                     lambda: host.set_option("Nobody", "level", True)):
            try:
                call()
            except host.OptionRefusedError as error:
                answer.append(error.finding.code)
        answer += [host.last_error() != "", len(host.recent_errors()) > 0,
                   host.counters().executes]
    """
    refused = "OPTION-REFUSED"
    seen = child(code, compile_plugin("fake_good", "FakeGood"))
    assert seen == [refused, refused, refused, True, True, 0]


def test_many_threads(compile_plugin: Compile, child: Child) -> None:
    libraries = [compile_plugin(f"fake_{i}", f"Fake{i}") for i in range(4)]
    code = """
        from concurrent.futures import ThreadPoolExecutor
        from executorch_backend_kit import host
        with ThreadPoolExecutor(8) as pool:
            loaded = list(pool.map(host.load_plugin, sys.argv[1:] * 8))
        outcomes = [p.outcome.value for p in loaded]
        answer = [outcomes.count("registered"), outcomes.count("already_registered")]
    """
    assert child(code, *libraries, FAKE_COUNT_ENTRIES="1") == [4, 28]


def test_asking_for_an_error_loads_nothing(child: Child) -> None:
    code = """
        from executorch_backend_kit import host
        answer = [host.last_error(), "libetbk_host" in open("/proc/self/maps").read(),
                  "torch" in sys.modules, "executorch" in sys.modules]
    """
    assert child(code) == ["", False, False, False]


def test_every_code_is_in_the_list() -> None:
    header = REPOSITORY / "host/include/executorch_backend_kit/finding_codes.hpp"
    known = set(re.findall(r'X\(\w+, +"([A-Z-]+)"', header.read_text()))
    assert len(known) > 25
    folder = REPOSITORY / "python/executorch_backend_kit/host"
    used = {
        code
        for file in folder.glob("*.py")
        for code in re.findall(r'"([A-Z]+(?:-[A-Z]+)+)"', file.read_text())
    }
    assert used, "the pattern finds nothing"
    assert used <= known
