"""Errors of the ahead-of-time part.

KitError
+-- DescriptorError      a backend describes itself wrongly
+-- ConfigurationError   a configuration cannot be used as it is written
|   +-- UnusableBackendError   it is written well, but a backend cannot be used here
+-- LoweringError        a model could not be lowered for a backend
"""

from executorch_backend_kit.report.finding import KitError


class DescriptorError(KitError):
    """A backend descriptor breaks a rule."""


class ConfigurationError(KitError):
    """A configuration cannot be used as it is written."""


class UnusableBackendError(ConfigurationError):
    """A backend is known but cannot be used here."""


class LoweringError(KitError):
    """Lowering for a configuration failed."""
