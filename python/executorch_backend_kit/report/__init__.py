"""Findings and results as immutable data, and the views that people read."""

from executorch_backend_kit.report.finding import Finding, KitError, Severity

__all__ = ["Finding", "KitError", "Severity"]
