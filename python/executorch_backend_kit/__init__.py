"""ExecuTorch Backend Kit: build a backend outside ExecuTorch, choose one for a model, and prove it.

Importing this package imports neither torch nor executorch. The parts are
`aot` (describe, find and lower for backends), `host` (load plugins into a runtime),
`compare` (measure configurations of a model) and `report` (findings and results as data).
"""

__version__ = "0.1.0"
