"""A verification as a person reads it, rendered from its JSON document."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from executorch_backend_kit.report.finding_view import print_finding


def render(document: dict[str, Any], *, verbose: bool) -> None:
    """What is wrong, then the counts."""
    console = Console(soft_wrap=True, highlight=False)
    if verbose:
        for check in document["checks"]:
            console.print(
                f"{check['result']:18}  {check['backend']}: {check['fact']}", markup=False
            )
    for finding in document["findings"]:
        print_finding(finding, console)
    counts = ", ".join(f"{count} {result}" for result, count in document["counts"].items())
    console.print(
        f"ExecuTorch {document['executorch']}, {document['platform']}: {counts}", markup=False
    )
