"""Compare configurations of a model, measured and checked on this machine."""

from executorch_backend_kit.compare.engine import Limits, compare
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.workers.errors import WorkerError

__all__ = ["Limits", "ModelError", "WorkerError", "compare"]
