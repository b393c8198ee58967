"""What a user writes to run a program with the vendor's backend. Prints the result, as JSON."""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import torch
from executorch.runtime import Runtime
from executorch_backend_kit import host

plugins = host.load_plugins()
runtime = Runtime.get()
report: dict[str, Any] = {
    "executorch": host.runtime_version(),
    "registered": runtime.backend_registry.registered_backend_names,
    "sha256": {p.name: hashlib.sha256(Path(p.path).read_bytes()).hexdigest() for p in plugins},
}
try:
    method = runtime.load_program(sys.argv[1]).load_method("forward")
    a = torch.arange(6.0).reshape(2, 3)
    report["result"] = method.execute([a, a.flip(0, 1)])[0].flatten().tolist()
except RuntimeError as error:
    report["error"] = str(error)
    report["reason"] = host.last_error()
print(json.dumps(report))
