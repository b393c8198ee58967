"""Errors of reading programs."""

from __future__ import annotations

from executorch_backend_kit.report.finding import KitError


class PteError(KitError):
    """A file, an envelope or a runtime profile that cannot be used."""
