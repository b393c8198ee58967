"""Writes the agent skill `backend-selection` from the knowledge base and the rules of `select`.

pages                    each page, as text
check_backend_imports    the skill's script; its table of modules is filled in
"""

from executorch_backend_kit.skill.pages import files

__all__ = ["files"]
