"""Options of backends on the command line: --option NAME.KEY=VALUE."""

from __future__ import annotations

from collections.abc import Sequence

from executorch_backend_kit.aot.errors import ConfigurationError


def options(given: Sequence[str]) -> dict[str, dict[str, str]]:
    """NAME.KEY=VALUE texts, by backend; raises ConfigurationError."""
    found: dict[str, dict[str, str]] = {}
    for text in given:
        path, equals, value = text.partition("=")
        name, dot, key = path.partition(".")
        if not (equals and dot and name and key):
            raise ConfigurationError(
                "BACKEND-OPTION-INVALID",
                f"{text!r} is not an option of a backend.",
                fix="Write --option NAME.KEY=VALUE, for example xnnpack.per_op_mode=true.",
            )
        found.setdefault(name, {})[key] = value
    return found
