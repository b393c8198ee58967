"""Runs export snippets on the kit's small model, each in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from executorch_backend_kit.probe import Prober


def lowered(prober: Prober, codes: dict[str, str], folder: Path) -> dict[str, Any]:
    """What became of each code: its report, or its error."""
    numbers = {
        prober.send(
            "lower",
            limit=120,
            snippet=f"calibration = [inputs]\ndynamic_shapes = None\n{code}",
            file=str(folder / f"{number}.pte"),
        ): name
        for number, (name, code) in enumerate(codes.items())
    }
    return {
        numbers[n]: (reply.results[-1] if reply.results else {"error": reply.ended_badly})
        for n, reply in prober.replies()
    }
