"""Which kernels a program needs beside its delegates, and whether this runtime has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def needed(
    operators: Iterable[dict[str, str]], kernels: Sequence[str] | None
) -> list[dict[str, Any]]:
    """{op, overload, available} of each operator; available is None if no runtime was asked."""
    known = None if kernels is None else set(kernels)
    rows = []
    for operator in operators:
        name = operator["op"] + (f".{operator['overload']}" if operator["overload"] else "")
        rows.append(
            {
                "op": operator["op"],
                "overload": operator["overload"],
                "available": None if known is None else name in known,
            }
        )
    return rows
