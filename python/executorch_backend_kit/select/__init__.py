"""Chooses backends for a device by named rules, and says how well each choice is evidenced.

request     what a person asks
exclusions  hard constraints: why a backend cannot be used
order       rules that put one backend before another, and the policies made of them
decision    applies both
plan        what a chosen backend needs, and how to lower for it
"""

from executorch_backend_kit.select.decision import Decision, choose
from executorch_backend_kit.select.errors import SelectionError
from executorch_backend_kit.select.measurements import Measurements
from executorch_backend_kit.select.request import Request

__all__ = ["Decision", "Measurements", "Request", "SelectionError", "choose"]
