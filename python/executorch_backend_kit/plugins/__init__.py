"""Every candidate plugin of this Python and its fate, without risk to the calling process."""

from executorch_backend_kit.plugins.listing import list_plugins

__all__ = ["list_plugins"]
