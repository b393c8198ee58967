"""Prints the backends that the kit finds and why those it cannot use are not usable, as JSON."""

import json

from executorch_backend_kit.aot import discover

print(
    json.dumps(
        {
            candidate.descriptor.name: {
                "usable": candidate.usable,
                "reason": candidate.reason.to_text() if candidate.reason else "",
            }
            for candidate in discover()
            if candidate.descriptor
        }
    )
)
