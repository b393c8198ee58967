"""Loads one plugin library and prints what became of it, and what the runtime lists, as JSON."""

import json
import sys

from executorch.runtime import Runtime
from executorch_backend_kit import host

plugin = host.load_plugin(sys.argv[1])
names = Runtime.get().backend_registry.registered_backend_names
print(json.dumps({"plugin": plugin.to_json(), "registered": names}))
