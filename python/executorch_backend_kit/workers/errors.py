"""WorkerError, a KitError: a worker process could not do what it was asked."""

from executorch_backend_kit.report.finding import KitError


class WorkerError(KitError):
    """A worker process answered with an error, died or did not answer."""
