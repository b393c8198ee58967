"""Checks the recorded facts against the installed ExecuTorch.

observations   asks child processes what is really there
comparison     compares a fact with what was seen
wheel          what the wheel itself declares: its extras, its CMake components
source_tree    build flags and CMake targets of an ExecuTorch source tree
verify         puts it together
"""

from executorch_backend_kit.knowledge.verification.comparison import Check, Result
from executorch_backend_kit.knowledge.verification.verify import Verification, verify

__all__ = ["Check", "Result", "Verification", "verify"]
