"""Describe, find and lower for backends.

The names below import torch only when `lower` is called.
"""

from executorch_backend_kit.aot.configuration import Configuration
from executorch_backend_kit.aot.descriptor import ENTRY_POINT_GROUP, BackendDescriptor, Option
from executorch_backend_kit.aot.discovery import Candidate, discover
from executorch_backend_kit.aot.errors import ConfigurationError, DescriptorError, LoweringError
from executorch_backend_kit.aot.lowering import Lowered, lower

__all__ = [
    "ENTRY_POINT_GROUP",
    "BackendDescriptor",
    "Candidate",
    "Configuration",
    "ConfigurationError",
    "DescriptorError",
    "Lowered",
    "LoweringError",
    "Option",
    "discover",
    "lower",
]
