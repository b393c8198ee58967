"""Errors of the ahead-of-time part.

KitError
+-- DescriptorError      a backend describes itself wrongly
+-- ConfigurationError   a configuration names no, an unusable or a doubtful backend
+-- LoweringError        a model could not be lowered for a backend
"""

from executorch_backend_kit.report.finding import KitError


class DescriptorError(KitError):
    """A backend descriptor breaks a rule."""


class ConfigurationError(KitError):
    """A configuration cannot be used as it is written."""


class LoweringError(KitError):
    """Lowering for a configuration failed."""
