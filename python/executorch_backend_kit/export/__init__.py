"""Makes program files for devices, each by the plan that `etbk select` makes for it.

worker     a child process that prepares a MODEL and runs the snippets of plans
programs   their programs: from the cache, or made by workers
engine     `etbk export`: one file per target, and the manifest
"""

from executorch_backend_kit.export.engine import Order, export
from executorch_backend_kit.export.programs import Making

__all__ = ["Making", "Order", "export"]
