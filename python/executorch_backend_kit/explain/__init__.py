"""Why operators of a model fell back, what would change it, and what that is worth.

engine       the calling side: one worker, one process that runs the program, the report
worker       exports, lowers and experiments, in a process of its own
runner       has the runtime and runs the program
recording    what each partitioner saw, chose and said        words, units, nodes, places
experiments  one property changed at a time                   specimen, changes
judgement    the reason of each node                          reasons
worth        arithmetic, bytes, boundaries, gains             arithmetic, precision
survey       puts it together                                 remarks
cures        what is known to help, tried on the whole model
program_file what a .pte alone tells
"""

from executorch_backend_kit.explain.engine import Limits, explain
from executorch_backend_kit.explain.gates import Gates

__all__ = ["Gates", "Limits", "explain"]
