"""ModelError, a KitError: the MODEL file, or what it returns, cannot be used. Exit code 2."""

from executorch_backend_kit.report.finding import KitError


class ModelError(KitError):
    """The MODEL file, or what it returns, cannot be used."""
