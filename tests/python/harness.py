"""What the tests of the Python package share beside fixtures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VENDOR = HERE / "vendor"
MODEL = HERE / "mlp_model.py"

Document = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Document:
        """What it printed, as JSON."""
        document: Document = json.loads(self.out)
        return document


def codes(document: Document) -> list[str]:
    """Codes of the findings, without what other work on the tester's machine causes."""
    return [f["code"] for f in document["findings"] if f["code"] != "MACHINE-BUSY"]


Etbk = Callable[..., Result]


def environment(**changes: str) -> dict[str, str]:
    """The environment of a command; free of what the tester's own shell says about the kit."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ETBK_")}
    return {**kept, **changes}


def install_entry_points(folder: Path, points: Sequence[str]) -> None:
    """Makes `folder` look like site-packages with the toy vendor's distribution."""
    info = folder / "toy_vendor-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-vendor\nVersion: 1.0\n")
    lines = "".join(f"{p} = toy_vendor:{p}\n" for p in points)
    (info / "entry_points.txt").write_text(f"[executorch_backend_kit.backends]\n{lines}")
