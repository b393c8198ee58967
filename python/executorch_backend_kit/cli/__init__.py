"""The `etbk` command."""

from executorch_backend_kit.cli.app import main

__all__ = ["main"]
