"""Loads backend plugins into the ExecuTorch runtime of this Python.

    from executorch_backend_kit import host
    host.load_plugins()          # everything installed; then use executorch.runtime as ever

Nothing is imported from torch or executorch: the host is a prebuilt library, loaded on first use.
A bad plugin is not an exception but a `Plugin` with findings; a `HostError` means that there is no
host at all. Functions may be called from any thread. After a registration the list that
`executorch.runtime` reads is compared with the host's, if the program has imported it; `audit()`
does so at any time.
"""

from executorch_backend_kit.host.calls import (
    audit,
    counters,
    discover,
    get_option,
    last_error,
    load_plugin,
    load_plugins,
    plugins,
    recent_errors,
    registered_backends,
    runtime_library,
    runtime_version,
    set_option,
)
from executorch_backend_kit.host.errors import (
    HostError,
    HostMissingError,
    OptionRefusedError,
    RuntimeMissingError,
    RuntimeUnsupportedError,
)
from executorch_backend_kit.host.reports import (
    BlobFormats,
    Counters,
    ErrorRecord,
    Origin,
    Outcome,
    Plugin,
)
from executorch_backend_kit.host.runtime_location import RuntimeLocation, locate_runtime
from executorch_backend_kit.report.finding import Finding, Severity

__all__ = [
    "BlobFormats",
    "Counters",
    "ErrorRecord",
    "Finding",
    "HostError",
    "HostMissingError",
    "OptionRefusedError",
    "Origin",
    "Outcome",
    "Plugin",
    "RuntimeLocation",
    "RuntimeMissingError",
    "RuntimeUnsupportedError",
    "Severity",
    "audit",
    "counters",
    "discover",
    "get_option",
    "last_error",
    "load_plugin",
    "load_plugins",
    "locate_runtime",
    "plugins",
    "recent_errors",
    "registered_backends",
    "runtime_library",
    "runtime_version",
    "set_option",
]
