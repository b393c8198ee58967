"""Errors of `compare`.

KitError
+-- ModelError     the MODEL file cannot be used: exit code 2
+-- WorkerError   a worker process answered with an error, died or did not answer
"""

from executorch_backend_kit.report.finding import KitError


class ModelError(KitError):
    """The MODEL file, or what it returns, cannot be used."""


class WorkerError(KitError):
    """A worker process could not do what it was asked."""
