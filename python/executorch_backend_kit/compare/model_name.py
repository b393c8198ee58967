"""What a MODEL is, by the way it is written; needs no torch.

model.py                 a Python file
package.module:function  a function in an importable module
model.pt2                what torch.export.save wrote
model.pte                a finished program
"""

from __future__ import annotations

import re
from pathlib import Path

from executorch_backend_kit.compare.errors import ModelError

_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def is_function(model: str) -> bool:
    """True for package.module:function."""
    return _FUNCTION.fullmatch(model) is not None and not Path(model).exists()


def absolute(model: Path | str) -> str:
    """The MODEL as every process finds it; raises ModelError for a path that leads nowhere."""
    text = str(model)
    try:
        if is_function(text):
            return text
        return str(Path(text).resolve())
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(
            "MODEL-FILE-MISSING",
            "The path of the MODEL cannot be followed.",
            evidence=f"{text[:200]}: {reason}",
            fix="Give the path of a Python file that defines model() and example_inputs().",
        ) from None
