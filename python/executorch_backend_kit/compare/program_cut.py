"""Parts of an exported program, as programs: everything up to a node, or a node alone.

A part is traced again, so that it is a program like any other and can be lowered and run.
"""

from __future__ import annotations

from typing import Any


def computed(program: Any) -> list[str]:
    """Names of the nodes that compute a floating-point tensor, in the program's order."""
    import torch

    return [
        node.name
        for node in program.module().graph.nodes
        if node.op == "call_function"
        and isinstance(node.meta.get("val"), torch.Tensor)
        and node.meta["val"].is_floating_point()
    ]


def prefix(program: Any, name: str) -> Any:
    """A module with the inputs of `program` whose output is the node `name`."""
    import torch

    module = program.module()

    class Prefix(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.whole = module

        def forward(self, *arguments: Any) -> Any:
            return _values(self.whole, arguments, name)[name]

    return Prefix()


def alone(program: Any, name: str, arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A module that is the node `name`, and what goes into it when the program gets `arguments`."""
    import torch

    module = program.module()
    node = next(n for n in module.graph.nodes if n.name == name)
    with torch.no_grad():
        values = _values(module, arguments, name)
    sources = [n for n in node.all_input_nodes if n.op != "get_attr"]
    constants = {n: values[n.name] for n in node.all_input_nodes if n.op == "get_attr"}

    class Alone(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for number, value in enumerate(constants.values()):
                self.register_buffer(f"constant{number}", value.detach().clone())

        def forward(self, *given: Any) -> Any:
            own = {n: getattr(self, f"constant{i}") for i, n in enumerate(constants)}
            known = own | dict(zip(sources, given, strict=True))
            taken = torch.fx.map_arg((node.args, node.kwargs), lambda n: known[n])
            return node.target(*taken[0], **taken[1])

    return Alone(), tuple(values[n.name] for n in sources)


class _ReachedError(Exception):
    """The node that was asked for has its value."""


def _values(module: Any, arguments: tuple[Any, ...], last: str) -> dict[str, Any]:
    """The values of all nodes up to `last`."""
    import torch

    values: dict[str, Any] = {}

    class Steps(torch.fx.Interpreter):
        def run_node(self, node: Any) -> Any:
            if node.op == "call_module":  # guards on the inputs, which hold already
                return None
            values[node.name] = super().run_node(node)
            if node.name == last:
                raise _ReachedError
            return values[node.name]

    steps = Steps(module, garbage_collect_values=False)
    flat = torch.utils._pytree.tree_leaves(arguments)
    try:
        steps.run(*flat, enable_io_processing=False)
    except _ReachedError:
        pass
    except RuntimeError as error:  # the interpreter wraps what a node raises
        if last not in values:
            raise error from None
    return values
