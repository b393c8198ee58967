"""Errors of the knowledge base.

KitError
+-- KnowledgeError       a knowledge file is broken
+-- UnknownNameError     a backend or target that nothing is known of
"""

from executorch_backend_kit.report.finding import KitError


class KnowledgeError(KitError):
    """A knowledge file cannot be used; the finding names file, line and field."""


class UnknownNameError(KitError):
    """A name that the knowledge base does not hold; the finding offers the nearest."""
