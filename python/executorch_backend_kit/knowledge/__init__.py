"""Facts about backends and targets, as data with evidence, release and date.

backends/, targets/   one file each; their form is in schemas/
store                 loads them, with vendors' and the user's files on top
verify                checks every fact that this machine can check
"""

from executorch_backend_kit.knowledge.entries import Backend, Evidence, Target
from executorch_backend_kit.knowledge.errors import KnowledgeError, UnknownNameError
from executorch_backend_kit.knowledge.store import Knowledge, load

__all__ = [
    "Backend",
    "Evidence",
    "Knowledge",
    "KnowledgeError",
    "Target",
    "UnknownNameError",
    "load",
]
