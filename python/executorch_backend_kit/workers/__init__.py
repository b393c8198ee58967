"""Child processes that do what may crash, hang or print: asked and answered in JSON lines.

protocol   the worker's side
process    the parent's side
"""
