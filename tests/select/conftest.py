"""Runs the installed command in these tests."""

from __future__ import annotations

from kit_command import cache, etbk, validate

__all__ = ["cache", "etbk", "validate"]
