"""The trap: a host with its own copy of ExecuTorch's registry is told that all went well.

Run by ctest with the folder of such a host, a plugin and the good hosts in the environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

CODE = """
import json, sys, warnings
warnings.filterwarnings("ignore")
from pathlib import Path
from executorch.runtime import Runtime
from executorch_backend_kit import host
from executorch_backend_kit.host import runtime_location
runtime_location.host_folder = lambda: Path(sys.argv[1])
plugin = host.load_plugin(sys.argv[2])
print(json.dumps({
    "plugin": plugin.to_json(),
    "usable": plugin.usable,
    "host_sees": host.registered_backends(),
    "runtime_sees": Runtime.get().backend_registry.registered_backend_names,
    "library": host.runtime_library(),
    "audit": [finding.to_json() for finding in host.audit()],
}))
"""


def load(hosts: str) -> dict[str, Any]:
    command = [sys.executable, "-c", CODE, hosts, os.environ["ETBK_TEST_PLUGIN"]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


def test_a_host_bound_to_the_runtime() -> None:
    seen = load(os.environ["ETBK_TEST_HOSTS"])
    assert seen["usable"] is True
    assert seen["plugin"]["findings"] == []
    assert "FakeGood" in seen["runtime_sees"]
    assert seen["audit"] == []


def test_a_host_with_its_own_registry_is_found_out() -> None:
    seen = load(os.environ["ETBK_TEST_PRIVATE_HOSTS"])
    # The trap: registration succeeds and the host's list shows the backend ...
    assert seen["plugin"]["outcome"] == "registered"
    assert seen["host_sees"] == ["FakeGood"]
    # ... but the runtime never heard of it, and that is what the user is told.
    assert "FakeGood" not in seen["runtime_sees"]
    assert seen["usable"] is False
    (finding,) = seen["plugin"]["findings"]
    assert finding["code"] == "REGISTRY-PRIVATE"
    assert "FakeGood" in finding["message"]
    assert os.environ["ETBK_TEST_PRIVATE_HOSTS"] in finding["message"]
    assert finding["fix"]
    # The audit also names the library whose registry nobody uses through this host.
    codes = {finding["code"]: finding for finding in seen["audit"]}
    assert set(codes) == {"REGISTRY-PRIVATE", "REGISTRY-SECOND-RUNTIME"}
    assert "libexecutorch.so" in codes["REGISTRY-SECOND-RUNTIME"]["message"]
