"""`.pte` and `.ptd` files: inspected, verified, compared and checked, without a runtime."""

from executorch_backend_kit.pte.errors import PteError
from executorch_backend_kit.pte.program_file import (
    Limits,
    ProgramFile,
    Verification,
    payload_hash,
    read,
    rules,
)

__all__ = [
    "Limits",
    "ProgramFile",
    "PteError",
    "Verification",
    "payload_hash",
    "read",
    "rules",
]
