"""Whether a runtime can run a file, from its profile: nothing is run."""

from __future__ import annotations

import json
from typing import Any

from executorch_backend_kit.pte._library import library, options, report
from executorch_backend_kit.pte.program_file import ProgramFile


def check(
    file: ProgramFile,
    profile: dict[str, Any],
    *,
    external: ProgramFile | None = None,
    hash: bool = False,  # noqa: A002 - the report's word
) -> dict[str, Any]:
    """The verdict as `etbk.check/1`: "compatible", "blocked" or "unknown", with every finding."""
    return report(
        library().etbk_pte_check(
            file.handle,
            None if external is None else external.handle,
            json.dumps(profile).encode(),
            options({"hash": hash}),
        )
    )


def for_cmake(document: dict[str, Any]) -> str:
    """What an application must link for a checked file, as lines of CMake."""
    needs = document["needs"]
    targets = " ".join(f"executorch::{name}" for name in needs["components"])
    lines = [
        "find_package(executorch CONFIG REQUIRED)",
        f"target_link_libraries(app PRIVATE {targets})",
    ]
    lines += [f"# and the package that brings the backend {name}" for name in needs["packages"]]
    if needs["kernels"]:
        lines.append("# kernels, for a selective build: " + ",".join(needs["kernels"]))
    return "\n".join(lines) + "\n"
