"""SelectionError, a ConfigurationError: the question contradicts itself. Exit code 2."""

from executorch_backend_kit.aot.errors import ConfigurationError


class SelectionError(ConfigurationError):
    """Options that do not go together, or that mean nothing."""
