"""`.pte` and `.ptd` files: inspected, verified, compared and checked, without a runtime."""

from executorch_backend_kit.pte.binary_profile import of_binary
from executorch_backend_kit.pte.checking import check, for_cmake
from executorch_backend_kit.pte.differences import diff
from executorch_backend_kit.pte.envelope import BlobGrade, Envelope, NamedNeed, grade, seal
from executorch_backend_kit.pte.errors import PteError
from executorch_backend_kit.pte.program_file import (
    Limits,
    ProgramFile,
    Verification,
    payload_hash,
    read,
    rules,
)
from executorch_backend_kit.pte.runtime_profile import recorded, this_machine

__all__ = [
    "BlobGrade",
    "Envelope",
    "Limits",
    "NamedNeed",
    "ProgramFile",
    "PteError",
    "Verification",
    "check",
    "diff",
    "for_cmake",
    "grade",
    "of_binary",
    "payload_hash",
    "read",
    "recorded",
    "rules",
    "seal",
    "this_machine",
]
