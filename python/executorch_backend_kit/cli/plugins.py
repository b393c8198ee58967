"""`etbk plugins`: prints the list of plugins."""

from __future__ import annotations

import json
import sys

from executorch_backend_kit.plugins import list_plugins
from executorch_backend_kit.report.plugin_list_view import render


def run(*, json_output: bool) -> None:
    """Lists and prints; what was found is the answer, whatever it is."""
    document = list_plugins().to_json()
    if json_output:
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        render(document)
