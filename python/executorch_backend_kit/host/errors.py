"""Why there is no host, or why a call to it failed.

HostError                    a KitError
+-- RuntimeMissingError      no ExecuTorch, or one without its runtime library
+-- RuntimeUnsupportedError  a release of ExecuTorch that no prebuilt host is bound to
+-- HostMissingError         this copy of the kit has no prebuilt host, or it cannot be loaded
+-- OptionRefusedError       a backend refused an option
"""

from __future__ import annotations

from executorch_backend_kit.report.finding import KitError


class HostError(KitError):
    """Something is wrong with the host itself, not with a plugin."""


class RuntimeMissingError(HostError):
    """There is no ExecuTorch to load plugins into."""


class RuntimeUnsupportedError(HostError):
    """The installed ExecuTorch is not of a line that the kit has a host for."""


class HostMissingError(HostError):
    """The prebuilt host library is not there or does not load."""


class OptionRefusedError(HostError):
    """A backend did not take or tell an option."""
