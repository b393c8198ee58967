"""A unit cut out of the edge graph, as a program of its own, in which properties can be changed.

What the backend saw stays as it was: dtypes, sizes, symbols, memory order, constants, and all that
is noted on the nodes. After a change every value is computed anew from the operators themselves.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from executorch_backend_kit.explain.nodes import constants, tensors, values
from executorch_backend_kit.explain.units import Unit

_NOT_COPIED = ("delegation_tag", "xnn_partitioner_config", "val", "tensor_meta")


class MalformedError(Exception):
    """The changed unit is no program: the operator itself does not take these inputs."""


@dataclass(frozen=True)
class Reference:
    """Stands in an operator's arguments for an input that the graph itself does not have."""

    name: str


@dataclass
class Input:
    """Something that the unit reads.

    kind: "activation", "parameter", "buffer", "constant" or "number"
    data: the real tensor of a constant, while it still fits
    """

    name: str
    kind: str
    dtype: Any = None
    sizes: tuple[Any, ...] = ()
    order: tuple[int, ...] = ()
    data: Any = None
    number: Any = None
    first: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        self.first = self.first or self._value()

    def _value(self) -> tuple[Any, ...]:
        return (str(self.dtype), tuple(map(str, self.sizes)), self.order)

    @property
    def changed(self) -> bool:
        """True if it has another dtype, other sizes or another memory order than in the graph."""
        return self._value() != self.first


@dataclass
class Draft:
    """A unit before it is built: what it reads, and what was changed in it.

    arguments: new (args, kwargs) of nodes, by name, where other nodes appear as they are
    targets:   new operators of nodes
    replaced:  nodes that are left out; another node or an input's name stands for each
    quantized: quantize and dequantize nodes are put around the operator
    """

    unit: Unit
    inputs: dict[str, Input]
    arguments: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=dict)
    targets: dict[str, Any] = field(default_factory=dict)
    replaced: dict[str, Any] = field(default_factory=dict)
    quantized: bool = False

    def arguments_of(self, node: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the node is called with, changes included."""
        return self.arguments.get(node.name, (tuple(node.args), dict(node.kwargs)))

    def unchanged(self) -> set[str]:
        """Names of nodes of which neither the arguments nor anything that they read changed."""
        same = {one.name for one in self.inputs.values() if not one.changed}
        for node in self.unit.nodes:
            touched = node.name in (*self.arguments, *self.targets, *self.replaced)
            touched = touched or (self.quantized and node is self.unit.main)
            if not touched and all(source.name in same for source in node.all_input_nodes):
                same.add(node.name)
        return same - set(self.inputs)


@dataclass(frozen=True)
class Specimen:
    """A built unit: an edge program, and its operator's name in there."""

    program: Any
    operator: str
    target: Any


def draft(unit: Unit, program: Any, real: Mapping[str, Any]) -> Draft:
    """The unit as it is. `real` has the data of constants by their names."""
    signature = program.graph_signature
    fixed = constants(program)
    inside = set(unit.nodes)
    inputs: dict[str, Input] = {}
    for node in unit.nodes:
        for source in node.all_input_nodes:
            if source in inside or source.name in inputs:
                continue
            inputs[source.name] = _input(source, fixed, signature, real)
    return Draft(unit, inputs)


def _input(source: Any, fixed: Mapping[str, str], signature: Any, real: Mapping[str, Any]) -> Input:
    value = source.meta.get("val")
    found = tensors(value)
    if not found:
        return Input(source.name, "number", number=value)
    tensor = found[0]
    kind = "activation"
    if source.name in fixed:
        kind = (
            "parameter"
            if source.name in signature.inputs_to_parameters
            else "buffer"
            if source.name in signature.inputs_to_buffers
            else "constant"
        )
    data = real.get(fixed.get(source.name, "")) if kind != "activation" else None
    if data is not None and tuple(data.shape) != tuple(tensor.shape):
        data = None
    return Input(
        source.name,
        kind,
        tensor.dtype,
        tuple(tensor.shape),
        memory_order(tensor),
        data=data,
    )


def memory_order(tensor: Any) -> tuple[int, ...]:
    """Dimensions from the slowest to the fastest in memory."""
    try:
        return tuple(int(d) for d in tensor.dim_order())
    except Exception:  # of sizes that are not known there may be no answer
        return tuple(range(tensor.dim()))


def build(draft: Draft, program: Any, *, real: bool = False) -> Specimen:
    """The program; with real weights if it shall be compiled. Raises MalformedError."""
    try:
        return _build(draft, program, real=real)
    except MalformedError:
        raise
    except Exception as error:  # whatever an operator or the verifier raises says the same
        raise MalformedError(f"{type(error).__name__}: {error}") from error


def _build(draft: Draft, program: Any, *, real: bool) -> Specimen:
    import torch
    from torch._guards import detect_fake_mode
    from torch.export import ExportedProgram
    from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
    from torch.export.graph_signature import ExportGraphSignature

    mode = detect_fake_mode(
        [n.meta["val"] for n in program.graph.nodes if n.op == "placeholder" and values(n)]
    )
    if mode is None:
        raise MalformedError("the graph has no values")
    graph = torch.fx.Graph()
    state: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    made: dict[str, Any] = {}
    specs = []
    ranks = {"parameter": 0, "buffer": 1, "constant": 2}
    inputs = sorted(draft.inputs.values(), key=lambda i: ranks.get(i.kind, 3))
    used = _used(draft)
    for one in inputs:
        if one.name not in used:
            continue
        node = graph.placeholder(one.name)
        made[one.name] = node
        with mode:
            node.meta["val"] = one.number if one.kind == "number" else empty(one)
        specs.append(_spec(one, node))
        if one.kind in {"parameter", "buffer"}:
            state[one.name] = _held(one, node, real=real)
        elif one.kind == "constant":
            kept[one.name] = empty(one).zero_() if one.data is None else one.data
    same = draft.unchanged()
    with mode, _quietly(mode):
        for node in draft.unit.nodes:
            if node.name in draft.replaced:
                continue
            made[node.name] = _copy(node, draft, graph, made, same)
        main = made[draft.unit.main.name]
        outputs = _outputs(draft, graph, made, main)
    graph.output(tuple(outputs))
    root = torch.nn.Module()
    signature = ExportGraphSignature(specs, [_output_spec(n) for n in outputs])
    flat = torch.utils._pytree.tree_structure(((0,) * len(specs), {}))
    result = torch.utils._pytree.tree_structure((0,) * len(outputs))
    call = ModuleCallEntry("", ModuleCallSignature([], [], flat, result))
    module = torch.fx.GraphModule(root, graph)
    built = ExportedProgram(
        root=module,
        graph=graph,
        graph_signature=signature,
        state_dict=state,
        range_constraints=dict(program.range_constraints),
        module_call_graph=[call],
        constants=kept,
        verifiers=[program.verifier],
    )
    return Specimen(built, main.name, main.target)


@contextmanager
def _quietly(mode: Any) -> Iterator[None]:
    """Without guards on symbols, and without torch's words about operators that do not fit."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before, logger.disabled = logger.disabled, True
    suppressed = mode.shape_env.suppress_guards() if mode.shape_env else nullcontext()
    try:
        with suppressed:
            yield
    finally:
        logger.disabled = before


def _used(draft: Draft) -> set[str]:
    """The names of inputs that something still reads."""
    import torch

    names: set[str] = set()

    def note(value: Any) -> Any:
        if isinstance(value, Reference):
            names.add(value.name)
        elif isinstance(value, torch.fx.Node):
            names.add(_stand_in(value, draft))
        return value

    for node in draft.unit.nodes:
        if node.name not in draft.replaced:
            torch.fx.node.map_aggregate(draft.arguments_of(node), note)
    return names


def _stand_in(node: Any, draft: Draft) -> str:
    """The name of what is read instead of a node, through all that is left out."""
    stands: Any = node
    while not isinstance(stands, str) and stands.name in draft.replaced:
        stands = draft.replaced[stands.name]
    return stands if isinstance(stands, str) else str(stands.name)


def _spec(one: Input, node: Any) -> Any:
    """What the program's signature says of an input."""
    from torch.export.graph_signature import InputKind, InputSpec, SymIntArgument, TensorArgument

    if one.kind == "number":
        return InputSpec(InputKind.USER_INPUT, SymIntArgument(node.name), None)
    argument = TensorArgument(node.name)
    if one.kind == "activation":
        return InputSpec(InputKind.USER_INPUT, argument, None)
    if one.kind == "buffer":
        return InputSpec(InputKind.BUFFER, argument, one.name, persistent=True)
    kind = InputKind.PARAMETER if one.kind == "parameter" else InputKind.CONSTANT_TENSOR
    return InputSpec(kind, argument, one.name)


def _held(one: Input, node: Any, *, real: bool) -> Any:
    """The tensor of a parameter or buffer; without data unless it shall be compiled."""
    import torch

    data = node.meta["val"]
    if real:
        data = empty(one).zero_() if one.data is None else one.data.detach()
    if one.kind == "parameter" and data.is_floating_point():
        return torch.nn.Parameter(data, requires_grad=False)
    return data


def empty(one: Input) -> Any:
    """A tensor like the input, in its memory order."""
    import torch

    back = [one.order.index(d) for d in range(len(one.order))]
    return torch.empty([one.sizes[d] for d in one.order], dtype=one.dtype).permute(back)


def _copy(node: Any, draft: Draft, graph: Any, made: dict[str, Any], same: set[str]) -> Any:
    import torch

    def there(value: Any) -> Any:
        if isinstance(value, Reference):
            return made[value.name]
        if isinstance(value, torch.fx.Node):
            return made[_stand_in(value, draft)]
        return value

    args, kwargs = torch.fx.node.map_aggregate(draft.arguments_of(node), there)
    wrapped = draft.quantized and node is draft.unit.main
    if wrapped:
        args, kwargs = torch.fx.node.map_arg((args, kwargs), lambda n: _dequantized(n, graph))
    target = draft.targets.get(node.name, node.target)
    copy = graph.create_node("call_function", target, tuple(args), dict(kwargs), node.name)
    copy.meta = {k: v for k, v in node.meta.items() if k not in _NOT_COPIED}
    copy.meta["val"] = node.meta["val"] if node.name in same else computed(copy)
    if wrapped:
        made[f"{node.name} dequantized"] = _dequantized(copy, graph)
    return copy


_INT8 = (0.05, 0, -128, 127)  # scale, zero point and range of a made-up quantization


def _dequantized(node: Any, graph: Any) -> Any:
    """The float tensor, quantized to int8 and back; anything else as it is."""
    import torch
    from executorch.exir.dialects._ops import ops

    found = values(node)
    if not found or found[0].dtype != torch.float32:
        return node
    edge = ops.edge.quantized_decomposed
    for target in (edge.quantize_per_tensor.default, edge.dequantize_per_tensor.default):
        node = graph.call_function(target, (node, *_INT8, torch.int8))
        node.meta["val"] = computed(node)
    return node


def computed(node: Any) -> Any:
    """What the node makes of the values that it reads."""
    import torch

    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    return node.target(*args, **kwargs)


def _outputs(draft: Draft, graph: Any, made: Mapping[str, Any], main: Any) -> list[Any]:
    """What somebody outside reads of the unit; of a tuple, its parts."""
    inside = set(draft.unit.nodes)
    wrapped = made.get(f"{draft.unit.main.name} dequantized")
    if wrapped is not None:
        return [wrapped]
    ends = [
        made[n.name]
        for n in draft.unit.nodes
        if n.name in made and (not set(n.users) or set(n.users) - inside or not made[n.name].users)
    ]
    found = []
    for end in ends or [main]:
        if isinstance(end.meta["val"], (tuple, list)):
            if not end.users:
                part = graph.call_function(operator.getitem, (end, 0))
                part.meta = {**end.meta, "val": end.meta["val"][0]}
                found.append(part)
        else:
            found.append(end)
    return found or [main]


def _output_spec(node: Any) -> Any:
    from torch.export.graph_signature import (
        OutputKind,
        OutputSpec,
        SymIntArgument,
        TensorArgument,
    )

    argument = TensorArgument(node.name) if values(node) else SymIntArgument(node.name)
    return OutputSpec(OutputKind.USER_OUTPUT, argument, None)
